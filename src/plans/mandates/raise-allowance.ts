import { hashTypedData, toHex } from 'viem';
import type { Hex } from '../../chain/rpc.ts';
import { walletJson } from '../../chain/typed-data.ts';
import type { Context } from '../../context.ts';
import { nestedIn } from '../../db/nested.ts';
import { startOf } from '../rules.ts';
import type { AgreeFault, CustomersPlan } from './agree.ts';
import {
  type AllowanceOrder,
  type AllowanceStep,
  allowanceStep,
  checkAllowance,
  neededMicro,
  type SubmittedPermit,
  savePermit,
} from './allowance.ts';
import { lockPayer } from './allowance-store.ts';
import { mayQueryChain } from './chain-queries.ts';
import { chainOf } from './chains.ts';
import { isCount } from './offer.ts';
import { signatureFault } from './signature.ts';
import { type MandateRow, selectActive, updateAllowed } from './store.ts';
import { offerMs } from './terms.ts';

type Raising = { mandate: MandateRow; order: AllowanceOrder };

/**
 * What the payer signs before anything is shown or changed, because the link alone must not reveal the sum of a payer's
 * agreements. Valid for half an hour.
 */
export type SignedRaise = { charges: number | null; until: Date; signature: Hex | null };

const raiseTypes = {
  AllowanceChange: [
    { name: 'mandate', type: 'bytes32' },
    { name: 'charges', type: 'string' },
    { name: 'until', type: 'uint256' },
  ],
} as const;

function raiseTypedData(mandate: MandateRow, charges: number | null, until: Date) {
  return {
    domain: { name: 'Quittance', version: '1', chainId: mandate.chain_id },
    types: raiseTypes,
    primaryType: 'AllowanceChange' as const,
    message: {
      mandate: toHex(mandate.hash),
      charges: charges === null ? 'any number' : String(charges),
      until: BigInt(Math.floor(until.getTime() / 1000)),
    },
  };
}

/** The mandate in use, and what its allowance should cover. */
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
  // The permit is used by the next charge, which may be a year ahead.
  const next = facts.next_on === null ? 0 : startOf(facts.next_on).getTime();
  const order: AllowanceOrder = {
    chain,
    key: { chainId: chain.chainId, token, payer, contract },
    planId: facts.id,
    capMicro: BigInt(mandate.cap_micro),
    charges,
    startsAt: new Date(Math.max(mandate.starts_at.getTime(), ctx.clock.now().getTime(), next)),
  };
  return { mandate, order };
}

/** What the payer of the mandate in use signs first, as the JSON text of `eth_signTypedData_v4`. */
export async function raiseOffer(
  ctx: Context,
  plan: CustomersPlan,
  charges: number | null,
): Promise<{ json: string; until: Date } | { fault: AgreeFault }> {
  const raising = await open(ctx, plan, charges);
  if ('fault' in raising) return raising;
  const until = new Date(Math.floor((ctx.clock.now().getTime() + offerMs) / 1000) * 1000);
  return { json: walletJson(raiseTypedData(raising.mandate, charges, until)), until };
}

/** The mandate in use, after checking that its payer signed the change. */
async function openSigned(
  ctx: Context,
  plan: CustomersPlan,
  { charges, until, signature }: SignedRaise,
): Promise<Raising | { fault: AgreeFault }> {
  const raising = await open(ctx, plan, charges);
  if ('fault' in raising) return raising;
  const leftMs = until.getTime() - ctx.clock.now().getTime();
  if (!(leftMs > 0 && leftMs <= offerMs)) return { fault: 'stale' };
  if (signature === null) return { fault: 'bad_signature' };
  const hash = hashTypedData(raiseTypedData(raising.mandate, charges, until));
  const { chain, key } = raising.order;
  if (!mayQueryChain(ctx, plan, chain.chainId)) return { fault: 'unreachable' };
  const fault = await signatureFault(chain, { address: key.payer, hash, signature });
  return fault ? { fault } : raising;
}

/** How the payer of the mandate in use must set the allowance for this many charges from now on. */
export async function raiseStep(
  ctx: Context,
  plan: CustomersPlan,
  signed: SignedRaise,
): Promise<AllowanceStep | { fault: AgreeFault }> {
  const raising = await openSigned(ctx, plan, signed);
  if ('fault' in raising) return raising;
  return (await allowanceStep(ctx, raising.order)) ?? { fault: 'unreachable' };
}

/** Stores that the allowance was set again, after checking it. The agreement itself does not change. */
export async function raiseAllowance(
  ctx: Context,
  plan: CustomersPlan,
  { permit, ...signed }: SignedRaise & { permit: SubmittedPermit | null },
): Promise<AgreeFault | null> {
  const { charges } = signed;
  const raising = await openSigned(ctx, plan, signed);
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
    await savePermit(tx, order.key, { needed, permit, now: ctx.clock.now() });
    return null;
  });
}
