import { isOneOf } from '../db/any-of.ts';
import type { Scope, Tx } from '../db/connection.ts';
import type { Reason } from './rules.ts';
import type { TransferRow } from './store.ts';

/** An unmatched transfer with its merchant's name. */
export type UnmatchedRow = TransferRow & { merchant_name: string | null };

/** A place in the list: newest block time first, then by what names a transfer. */
export type UnmatchedCursor = { blockTime: Date; chainId: number; txHash: string; ordinal: number };

export type UnmatchedFilter = {
  /** One merchant, or any of several. */
  accountId?: string | string[];
  reason?: Reason;
  /** Of the block. */
  since?: Date;
  /** Not included. */
  until?: Date;
};

/** True of a transfer `t` that was not given back. */
export const isKept = (tx: Tx) => tx`
  not exists (select from returns b where (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
    = (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal) and b.state in ('sent', 'confirmed', 'other'))`;

/** Unmatched transfers of a scope, newest first. */
export function selectUnmatchedAfter(
  tx: Tx,
  scope: Scope,
  filter: UnmatchedFilter,
  after: UnmatchedCursor | null,
  limit: number,
): Promise<UnmatchedRow[]> {
  const { accountId, reason, since, until } = filter;
  return tx<UnmatchedRow[]>`
    select t.*, coalesce(m.business_name, m.display_name) as merchant_name
    from transfers t join merchants m on (m.partner_id, m.test_mode, m.id) = (t.partner_id, t.test_mode, t.account_id)
    where t.partner_id = ${scope.partnerId} and t.test_mode = ${scope.testMode} and t.request_id is null
      and t.judged_at is not null
      ${accountId ? tx`and ${isOneOf(tx, tx`t.account_id`, accountId)}` : tx``}
      ${reason ? tx`and coalesce(t.reason, 'no_match') = ${reason}` : tx``}
      ${since ? tx`and t.block_time >= ${since}` : tx``}
      ${until ? tx`and t.block_time < ${until}` : tx``}
      ${
        after // the time alone, too: the index can be used for it under row-level security
          ? tx`and t.block_time <= ${after.blockTime} and (t.block_time, t.chain_id, t.tx_hash, t.ordinal)
              < (${after.blockTime}, ${after.chainId}, ${after.txHash}, ${after.ordinal})`
          : tx``
      }
    order by t.block_time desc, t.chain_id desc, t.tx_hash desc, t.ordinal desc limit ${limit}`;
}

export type UnmatchedSum = { reason: Reason; payments: number; usdc_micro: string };

/** What came unmatched since a time and was not given back, by reason; of the newest `most` transfers. */
export function selectUnmatchedSums(tx: Tx, scope: Scope, since: Date, most: number): Promise<UnmatchedSum[]> {
  return tx<UnmatchedSum[]>`
    select coalesce(reason, 'no_match') as reason, count(*)::int as payments, sum(value)::text as usdc_micro
    from (
      select reason, value from transfers t
      where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id is null
        and judged_at is not null and block_time >= ${since} and ${isKept(tx)}
      order by block_time desc limit ${most}) newest
    group by 1 order by 1`;
}
