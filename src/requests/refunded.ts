import type { Tx } from '../db/connection.ts';

/**
 * The states of a row of `returns` whose payment counts as refunded: a transfer was recorded for it and has not failed.
 */
export const refundedStates = ['sent', 'confirmed', 'other'] as const;

/** True of a transfer `t` that counts as refunded. */
export const isRefunded = (tx: Tx) => tx`
  exists (select from returns b where (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
    = (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal) and b.state = any(${refundedStates}::text[]))`;
