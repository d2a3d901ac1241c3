import { bytesToHex } from 'viem';
import type { Scope, Tx } from '../../db/connection.ts';
import type { PermitRow } from './allowance-store.ts';
import { type EndReason, type MandateRow, selectActive, selectLatest } from './store.ts';

export { charged, chargedAt } from './charged-store.ts';
export type { EndReason, MandateRow, PermitRow };

/** The mandate under which a plan may be charged; null if none is in use. */
export const readActiveMandate = (tx: Tx, scope: Scope, planId: string): Promise<MandateRow | null> =>
  selectActive(tx, scope, planId);

/** The latest mandate of a plan, in use or not; null if nobody ever agreed. */
export const readLatestMandate = (tx: Tx, scope: Scope, planId: string): Promise<MandateRow | null> =>
  selectLatest(tx, scope, planId);

/** The mandate as the wallet signed it, and as the contract expects it. */
export function toMandate(row: MandateRow) {
  const { payer, payee, executor, token_address: token } = row;
  return {
    payer,
    payee,
    token,
    executor,
    maxAmount: BigInt(row.cap_micro),
    minIntervalSeconds: row.min_interval_s,
    startsAt: row.starts_at.getTime() / 1000,
    endsAt: row.ends_at.getTime() / 1000,
    plan: bytesToHex(row.plan_ref),
    salt: bytesToHex(row.salt),
  };
}
