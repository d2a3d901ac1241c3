import { decodeFunctionData } from 'viem';
import { recurringAbi } from '../../chain/recurring/contract.ts';
import type { Hex } from '../../chain/rpc.ts';
import type { Context } from '../../context.ts';
import { authorizedMicro } from '../../payments/authorized/authorization.ts';
import { minPartMicro } from '../../payments/rules.ts';
import { type RelayedRow, selectRelayed, updateOvertaken } from './overtaken-store.ts';
import type { CollectionReason } from './rules.ts';

/**
 * Finds which of these relayed calls would take money that is no longer due. None of them is mined yet. A call can wait
 * for days while its signer or its chain does not answer. Meanwhile its request may be paid, or its plan stopped. Why a
 * charge was overtaken is stored with it, so that it does not count as a failed attempt.
 *
 * @param relayIds calls of any purpose; revocations are always wanted
 */
export async function findOvertaken(ctx: Context, relayIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (relayIds.length === 0) return new Set();
  const rows = await selectRelayed(ctx.db.sql, relayIds);
  const judged = rows.map((row) => ({ row, reason: overtakenBy(row) }));
  const charges = judged.filter(({ row }) => row.purpose === 'charge');
  await updateOvertaken(ctx.db.sql, charges, ctx.clock.now());
  return new Set(judged.flatMap(({ row, reason }) => (reason === null ? [] : [row.id])));
}

/**
 * What has overtaken a call; null if nothing has. Authorizations were signed for their request, and end soon. One is
 * overtaken by a part after which it would overpay: with that part, it would not have been taken.
 */
function overtakenBy(row: RelayedRow): CollectionReason | null {
  if (row.proof_status !== 'none') return 'payment_seen';
  if (row.status === 'voided') return 'request_cancelled';
  if (row.status === 'expired') return 'request_expired';
  const call: Hex = `0x${Buffer.from(row.data).toString('hex')}`;
  if (row.purpose === 'authorization')
    return authorizedMicro(call) - dueMicro(row) < minPartMicro ? null : 'payment_seen';
  if (row.payment_seen || dueMicro(row) !== chargedMicro(call)) return 'payment_seen';
  if (row.plan_over) return row.plan_over;
  if (!row.mandate_active) return 'no_mandate';
  if (row.partner_disabled) return 'partner_disabled';
  return row.merchant_disabled ? 'merchant_disabled' : null;
}

const dueMicro = (row: RelayedRow): bigint => BigInt(row.usdc_micro) - BigInt(row.counted_micro);

/** The amount that a charge moves, in micro units. */
function chargedMicro(call: Hex): bigint {
  const { functionName, args } = decodeFunctionData({ abi: recurringAbi, data: call });
  if (functionName !== 'charge' && functionName !== 'chargeWithPermit') throw new Error(`${functionName} is no charge`);
  return args[2];
}
