import { scopeOfRow } from '../../auth/scope.ts';
import { type Holdings, maxWallets } from '../../chain/holdings.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable, type Tx } from '../../db/connection.ts';
import { nestedInScope } from '../../db/nested.ts';
import { hourMs } from '../../lib/durations.ts';
import { currencyExponent, toUsdcMicro } from '../../lib/money.ts';
import { queuePlanMail } from '../../mail/outbox.ts';
import { readMailBranding } from '../../partners/branding.ts';
import { usableRate } from '../../rates/quote.ts';
import { takePlanMail } from '../mail-limit.ts';
import { lockNamedPlan } from '../store.ts';
import { holdingsOf } from './holdings.ts';
import { lowFundsMail } from './mail.ts';
import { isAllowed, isNewPermit, shortage } from './rules.ts';
import { type After, selectUpcoming, type UpcomingRow, updateUpcomingChecked } from './upcoming-store.ts';

/** How long before a date its customer is warned. */
const aheadMs = 72 * hourMs;
/** How many batches are in one pass; the next one takes the rest. */
const maxBatches = 50;

/**
 * Checks the wallets that will be charged on a chain within 72 hours, many in one call to the provider. It warns
 * customers whose balance or allowance will not suffice, once per date. Each date is checked only once, and nobody is
 * warned whose last charge is still being tried again. Plans in a currency that has no rate now wait for the
 * next pass: of each such currency, one pass reads one batch at most, so others are checked however many there are.
 *
 * @returns how many were checked
 */
export async function checkUpcomingCharges(ctx: Context, chain: ChainConfig, signal: AbortSignal): Promise<number> {
  if (chain.recurringContract === null) return 0;
  let checked = 0;
  let after: After | null = null;
  const withoutRate = new Set<string>();
  for (let i = 0; i < maxBatches && !signal.aborted; i++) {
    const now = ctx.clock.now();
    const before = new Date(now.getTime() + aheadMs);
    const limits = { now, before, after, withoutRate, limit: maxWallets };
    const rows: UpcomingRow[] = await selectUpcoming(ctx.db.sql, chain.chainId, limits);
    const last = rows.at(-1);
    if (!last) return checked;
    after = { dueAt: last.plan_due_at, planId: last.plan_id };
    for (const group of Map.groupBy(rows, (row) => `${row.token_address} ${row.contract_address}`).values()) {
      checked += await checkWallets(ctx, chain, group, withoutRate);
    }
  }
  return checked;
}

/** Checks the wallets of plans with one token and contract, and notes currencies without a rate. Returns how many. */
async function checkWallets(
  ctx: Context,
  chain: ChainConfig,
  rows: UpcomingRow[],
  withoutRate: Set<string>,
): Promise<number> {
  const now = ctx.clock.now();
  const ready = rows.flatMap((row) => {
    const amountMicro = amountOf(row, now);
    if (amountMicro === null) withoutRate.add(row.fiat_code);
    return amountMicro === null ? [] : [{ row, amountMicro }];
  });
  const [first] = ready;
  if (!first) return 0;
  const payers = ready.map(({ row }) => row.payer);
  const all = await holdingsOf(chain, first.row, payers);
  if (!all) return 0; // the chain does not answer: the next pass asks again
  let checked = 0;
  for (const [i, { row, amountMicro }] of ready.entries()) {
    try {
      if (await warnIfShort(ctx, row, amountMicro, all[i] as Holdings)) checked++;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      ctx.log.error({ err: error, plan_id: row.plan_id }, 'an upcoming charge could not be checked');
    }
  }
  return checked;
}

/** What a plan's next charge takes at today's rate; null without one. */
function amountOf({ fiat_int, fiat_code, quote }: UpcomingRow, now: Date): bigint | null {
  const rate = usableRate(quote, now);
  const exponent = currencyExponent(fiat_code);
  return rate === null || exponent === null ? null : toUsdcMicro(BigInt(fiat_int), exponent, rate);
}

/** Warns a customer whose wallet will not suffice. False if another node was faster. */
async function warnIfShort(ctx: Context, row: UpcomingRow, amountMicro: bigint, holdings: Holdings): Promise<boolean> {
  // A permit that was never used counts as allowance.
  const isUsable =
    row.permit_signed_at !== null &&
    isNewPermit(row.charged_at, row.permit_signed_at) &&
    BigInt(row.permit_deadline ?? 0) * 1000n > BigInt(row.plan_due_at.getTime());
  const permitMicro = isUsable && row.permit_micro ? BigInt(row.permit_micro) : null;
  const fault = isAllowed(row) ? shortage(holdings, amountMicro, permitMicro) : 'allowance_low';
  const scope = scopeOfRow(row);
  return ctx.db.scoped(scope, async (tx: Tx) => {
    if (!(await updateUpcomingChecked(tx, scope, row.plan_id, row.next_on))) return false;
    if (!fault || row.retried) return true;
    const plan = await lockNamedPlan(tx, scope, row.plan_id);
    const to = await takePlanMail(ctx, tx, scope, plan);
    if (to === null) return true;
    const branding = await readMailBranding({ ...ctx, db: nestedInScope(tx, scope, ctx.db) }, scope.partnerId);
    const mail = { plan, branding, to, reason: fault, payer: row.payer, dueAt: row.plan_due_at };
    await queuePlanMail(ctx, tx, scope, plan.id, lowFundsMail(ctx, mail));
    return true;
  });
}
