import type { Database, Scope, Tx } from '../db/connection.ts';
import { identifiers } from '../db/sql.ts';

/** A refund whose transaction must be looked up. */
export type DueRefund = {
  partner_id: string;
  test_mode: boolean;
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  /** The request that was overpaid. */
  request_id: string | null;
  from_address: string;
  to_address: string;
  token_address: string;
  usdc_micro: string;
  return_tx_hash: string;
  noted_at: Date;
  /** `kept`: cancelled; `replaced`: another one was recorded in its place. */
  state: 'sent' | 'missing' | 'kept' | 'replaced';
  /** The block of the payment; null if it was removed. */
  block_number: string | null;
};

/**
 * The loop's lookup over all partners: claims due refunds, so that nobody else claims them for a while. Alternates
 * between partners, and within each between merchants. A new one is looked up every five seconds, then every minute,
 * after two hours every ten minutes, after two days every six hours, until it is final, however late.
 *
 * @param whether of active refunds, of cancelled ones, or of transactions that another one replaced
 */
export function claimRefunds(
  { sql }: Database,
  of: 'returns' | 'returns_replaced',
  limit: number,
): Promise<DueRefund[]> {
  const ofReplaced = of === 'returns_replaced';
  const table = identifiers(of);
  const waiting = ofReplaced
    ? sql`true`
    : sql`state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null`;
  const key = (row: string) => sql`
    (${identifiers(row)}.partner_id, ${identifiers(row)}.test_mode, ${identifiers(row)}.chain_id, ${identifiers(row)}.tx_hash, ${identifiers(row)}.ordinal)`;
  return sql<DueRefund[]>`
    with recursive parties as (
      (select partner_id, account_id from ${table} where ${waiting} order by partner_id, account_id limit 1)
      union all
      select n.partner_id, n.account_id from parties p cross join lateral (
        select partner_id, account_id from ${table}
        where ${waiting} and (partner_id, account_id) > (p.partner_id, p.account_id)
        order by partner_id, account_id limit 1) n
    ), due as (
      select d.*, row_number() over (partition by d.partner_id, d.account_id order by d.next_look_at) as nth
      from parties p cross join lateral (
        select * from ${table}
        where ${waiting} and partner_id = p.partner_id and account_id = p.account_id and next_look_at <= now()
        order by next_look_at limit ${limit}) d
    ), turns as (
      select *, row_number() over (partition by partner_id order by nth, next_look_at) as turn from due
    ), next as (
      select * from turns order by turn, next_look_at limit ${limit}
    ), locked as (
      select b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal, b.return_tx_hash
      from ${table} b join next on ${key('b')} = ${key('next')} and b.return_tx_hash = next.return_tx_hash
      where b.next_look_at <= now() for update of b skip locked
    ), claimed as (
      update ${table} b set next_look_at = now() + case when b.noted_at > now() - interval '10 minutes' then interval '5 seconds'
        when b.noted_at > now() - interval '2 hours' then interval '1 minute'
        when b.noted_at > now() - interval '2 days' then interval '10 minutes' else interval '6 hours' end
      from locked where ${key('b')} = ${key('locked')} and b.return_tx_hash = locked.return_tx_hash
      returning b.*
    )
    select c.partner_id, c.test_mode, c.chain_id, c.tx_hash, c.ordinal, c.request_id, c.from_address, c.to_address, c.token_address,
      c.usdc_micro, c.return_tx_hash, c.noted_at, ${ofReplaced ? sql`'replaced'` : sql`c.state`} as state, t.block_number
    from claimed c left join transfers t on ${key('t')} = ${key('c')}`;
}

/** Postpones a transaction that no endpoint knows by half of its age, because anybody can record invented hashes. */
export async function postponeRefund(tx: Tx, scope: Scope, row: DueRefund): Promise<void> {
  await tx`
    update ${identifiers(row.state === 'replaced' ? 'returns_replaced' : 'returns')}
    set next_look_at = greatest(next_look_at, now() + least((now() - noted_at) / 2, interval '6 hours'))
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}`;
}

/** Whether a transaction is still replaced: its merchant may have recorded it again. */
export async function isReplaced(tx: Tx, scope: Scope, row: DueRefund): Promise<boolean> {
  const rows = await tx`
    select from returns_replaced
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}`;
  return rows.length > 0;
}

/** Stops following a replaced transaction: it was mined, or can no longer be. */
export async function deleteReplaced(tx: Tx, scope: Scope, row: DueRefund): Promise<void> {
  await tx`
    delete from returns_replaced
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}`;
}
