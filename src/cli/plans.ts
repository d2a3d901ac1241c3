import { scopeOfMerchant, scopeOfPlan } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { isUuid } from '../lib/ids.ts';
import { formatMicro } from '../lib/money.ts';
import { readMerchant } from '../merchants/read.ts';
import { readNextAllowed } from '../plans/collect/read.ts';
import { planPageUrl } from '../plans/link.ts';
import type { CustomersPlan } from '../plans/mandates/agree.ts';
import { readPlanFacts } from '../plans/mandates/facts.ts';
import { readActiveMandate } from '../plans/mandates/read.ts';
import { movePlanDue } from '../plans/move-due.ts';
import { agreeInSandbox } from '../sandbox/agree.ts';
import { createSandboxPlan, usualFiatInt } from '../sandbox/plan.ts';
import { commandLine } from './actor.ts';
import { sandboxChain } from './chain.ts';
import { type Arguments, type Command, UsageFault, word } from './command.ts';
import { payer } from './payments.ts';

async function makePlan(ctx: Context, args: Arguments): Promise<Record<string, string>> {
  const id = word(args, 0, 'The account ID').toLowerCase();
  const scope = isUuid(id) ? await scopeOfMerchant(ctx.db, id) : null;
  const merchant = scope && (await readMerchant(ctx, scope, id));
  if (!scope || !merchant?.display_currency) throw new Error(`There is no merchant ${id}.`);
  sandboxChain(ctx, scope.testMode);
  const typed = args.options.amount ?? String(usualFiatInt);
  if (typeof typed !== 'string' || !/^[1-9]\d{0,8}$/.test(typed)) {
    throw new UsageFault('--amount must be a whole number of minor units, at least 1.');
  }
  const { display_currency } = merchant;
  const plan = await createSandboxPlan(ctx, commandLine, scope, { id, display_currency }, Number(typed));
  return {
    plan_id: plan.id,
    first_charge: 'in an hour, or at once with sandbox charge',
    page: planPageUrl(ctx.config, plan.id),
  };
}

async function chargePlan(ctx: Context, args: Arguments): Promise<Record<string, string>> {
  const plan = await findPlan(ctx, args);
  const { scope, facts } = plan;
  sandboxChain(ctx, scope.testMode);
  if (!(await ctx.db.scoped(scope, (tx) => movePlanDue(tx, scope, facts.id, ctx.clock.now())))) {
    throw new Error('This plan is paused or has ended, so it is not charged.');
  }
  return { plan_id: facts.id, charged: await whenCharged(ctx, plan), page: planPageUrl(ctx.config, facts.id) };
}

/** When and how a plan that is due now is charged, in words. */
async function whenCharged(ctx: Context, { scope, facts }: CustomersPlan): Promise<string> {
  const now = ctx.clock.now();
  const allowedAt = await ctx.db.scoped(scope, async (tx) => {
    const mandate = await readActiveMandate(tx, scope, facts.id);
    return mandate && readNextAllowed(tx, scope, mandate, now);
  });
  if (allowedAt === null) return 'requested by link within a few seconds: nobody has agreed to automatic charges';
  return allowedAt > now ? `from ${allowedAt.toISOString()}, when the agreement allows it` : 'within a few seconds';
}

/** Finds a plan by its link or its ID. */
async function findPlan(ctx: Context, args: Arguments): Promise<CustomersPlan> {
  const named = word(args, 0, 'The link of a plan, or its ID');
  const id = (/\/plans\/([0-9a-f-]{36})(?:\/|$)/i.exec(named)?.[1] ?? named).toLowerCase();
  const scope = isUuid(id) ? await scopeOfPlan(ctx.db, id) : null;
  const facts = scope && (await readPlanFacts(ctx, scope, id));
  if (!facts) throw new Error(`There is no plan ${named}.`);
  return { scope, facts };
}

async function agreeToPlan(ctx: Context, args: Arguments): Promise<Record<string, string>> {
  const plan = await findPlan(ctx, args);
  const chain = sandboxChain(ctx, plan.facts.test_mode);
  const local = { ...ctx, chains: { test: [chain], live: [chain] } };
  const { payer: wallet, cap_micro, ends_at } = await agreeInSandbox(local, chain, plan, payer(args));
  return {
    plan_id: plan.facts.id,
    payer: wallet,
    max_per_charge_usdc: formatMicro(BigInt(cap_micro)),
    until: ends_at.toISOString(),
    page: planPageUrl(ctx.config, plan.facts.id),
  };
}

/** Commands that try out a plan in the sandbox. */
export const planCommands: Command[] = [
  {
    name: 'sandbox plan',
    usage: '<account_id> [--amount N]',
    summary:
      'Creates a monthly plan that charges automatically; --amount is in minor units of the merchant’s currency.',
    run: makePlan,
  },
  {
    name: 'sandbox agree',
    usage: '<plan link or ID> [--private-key 0x…]',
    summary: 'Agrees to a plan’s automatic charges with a test wallet, as its customer does on the plan’s page.',
    run: agreeToPlan,
  },
  {
    name: 'sandbox charge',
    usage: '<plan link or ID>',
    summary: 'Makes a plan’s next charge due now.',
    run: chargePlan,
  },
];
