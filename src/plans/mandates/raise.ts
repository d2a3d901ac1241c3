import type { Context } from '../../context.ts';
import { nestedIn } from '../../db/nested.ts';
import type { AgreeFault, CustomersPlan } from './agree.ts';
import {
  type AllowanceOrder,
  type AllowanceStep,
  allowanceStep,
  type BroughtPermit,
  checkAllowance,
  keepPermit,
  neededMicro,
} from './allowance.ts';
import { isCount } from './offer.ts';
import { chainOf } from './stop.ts';
import { lockPayer, type MandateRow, selectActive, updateAllowed } from './store.ts';

type Raising = { mandate: MandateRow; order: AllowanceOrder };

/** The mandate in use, and what its allowance is to be for. */
async function open(
  ctx: Context,
  { scope, facts }: CustomersPlan,
  charges: number | null,
): Promise<Raising | { fault: AgreeFault }> {
  if (charges !== null && !isCount(charges)) return { fault: 'stale' };
  const mandate = await ctx.db.scoped(scope, (tx) => selectActive(tx, scope, facts.id));
  const chain = mandate && chainOf(ctx, mandate);
  if (!mandate || !chain) return { fault: 'none' };
  const { token_address: token, payer, contract_address: contract } = mandate;
  const order: AllowanceOrder = {
    chain,
    key: { chainId: chain.chainId, token, payer, contract },
    planId: facts.id,
    capMicro: BigInt(mandate.cap_micro),
    charges,
    startsAt: new Date(Math.max(mandate.starts_at.getTime(), ctx.clock.now().getTime())),
  };
  return { mandate, order };
}

/** How the payer of the mandate in use is to set the allowance for so many charges from now on. */
export async function raiseStep(
  ctx: Context,
  plan: CustomersPlan,
  charges: number | null,
): Promise<AllowanceStep | { fault: AgreeFault }> {
  const raising = await open(ctx, plan, charges);
  if ('fault' in raising) return raising;
  return (await allowanceStep(ctx, raising.order)) ?? { fault: 'unreachable' };
}

/** Stores that the allowance was set anew, once it is checked. What was agreed stays as it is. */
export async function raise(
  ctx: Context,
  plan: CustomersPlan,
  { charges, permit }: { charges: number | null; permit: BroughtPermit | null },
): Promise<AgreeFault | null> {
  const raising = await open(ctx, plan, charges);
  if ('fault' in raising) return raising.fault;
  const { order, mandate } = raising;
  const needed = await neededMicro(ctx.db.sql, order);
  const fault = await checkAllowance(ctx, order, needed, permit);
  if (fault) return fault;
  return ctx.db.transaction(async (tx) => {
    await lockPayer(tx, order.key);
    if ((await neededMicro(tx, order)) !== needed) return 'allowance_changed';
    const { scope } = plan;
    const kept = await nestedIn(tx, ctx.db).scoped(scope, (inner) => updateAllowed(inner, scope, mandate.id, charges));
    if (!kept) return 'none';
    await keepPermit(tx, order.key, { needed, permit, now: ctx.clock.now() });
    return null;
  });
}
