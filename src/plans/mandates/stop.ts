import { hashTypedData } from 'viem';
import type { Actor } from '../../audit/actions.ts';
import { theService } from '../../audit/write.ts';
import { revocationTypedData } from '../../chain/recurring/mandate.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { PlanOf } from '../lifecycle.ts';
import { selectPlan } from '../store.ts';
import type { CustomersPlan } from './agree.ts';
import { chainOf } from './chains.ts';
import { endMandate } from './end.ts';
import { toMandate } from './read.ts';
import { readMandateSignature, signatureFault } from './signature.ts';
import { type MandateRow, selectActive } from './store.ts';

/** The data that a payer signs to revoke a mandate, if a wallet is available. */
export function revocationOf(mandate: MandateRow) {
  return revocationTypedData(toMandate(mandate), mandate.chain_id, mandate.contract_address);
}

/**
 * Stops the automatic charges of a plan for the holder of its link, at once. The payer's signature is stored if there
 * is one, since with it anybody can revoke on the chain. An invalid signature stops the charges just as well.
 *
 * @returns false if no mandate was in use any more
 */
export async function stopByCustomer(
  ctx: Context,
  { scope, facts }: CustomersPlan,
  signature: string | null,
): Promise<boolean> {
  const mandate = await ctx.db.scoped(scope, (tx) => selectActive(tx, scope, facts.id));
  if (!mandate) return false;
  const stopSignature = signature === null ? null : await checked(ctx, mandate, signature);
  const end = { reason: 'stopped_by_customer', stopSignature } as const;
  return (await endMandate(ctx, theService, scope, mandate.id, end)) !== null;
}

async function checked(ctx: Context, mandate: MandateRow, typed: string): Promise<Buffer | null> {
  const signature = readMandateSignature(typed);
  const chain = chainOf(ctx, mandate);
  if (!signature || !chain) return null;
  const hash = hashTypedData(revocationOf(mandate));
  const fault = await signatureFault(chain, { address: mandate.payer, hash, signature });
  return fault ? null : Buffer.from(signature.slice(2), 'hex');
}

/**
 * Stops the automatic charges of a plan for its merchant. The plan goes on, and is paid by link.
 *
 * @returns false if no mandate was in use any more
 * @throws Refusal not_found
 */
export async function stopByMerchant(ctx: Context, actor: Actor, { scope, accountId, id }: PlanOf): Promise<boolean> {
  const mandate = await ctx.db.scoped(scope, async (tx) => {
    if (!isUuid(id) || !(await selectPlan(tx, scope, accountId, id))) throw refuse('not_found');
    return selectActive(tx, scope, id);
  });
  if (!mandate) return false;
  return (await endMandate(ctx, actor, scope, mandate.id, { reason: 'stopped_by_merchant' })) !== null;
}
