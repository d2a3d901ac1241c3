import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import {
  countedWithin,
  type GateCall,
  type GateRow,
  type GateRule,
  hasNotEnded,
  keyColumns,
  shownColumns,
} from './gate.ts';

/** If one of several calls waits longer than this for a lock (ms), each is counted alone instead. */
const maxLockMs = 100;

/**
 * Reads the keys of several calls, counts them and creates their rows, in one statement, as the gate's statement does
 * for a single call. If it fails, nothing of it has happened.
 *
 * @param calls each of a different partner, and none at an unknown host
 * @param made a table of the created rows, with the column `partner`. It may use `key`, whose `place` numbers the calls
 * from one, and `counted`, whose `subject` is the id of a key. It creates a row only if `within` (the limit) and
 * `key.may`
 * @returns for each call the row that its own statement would have returned
 */
export async function passGateAsGroup(
  sql: Sql,
  { endpoint, perMinute, scope }: GateRule,
  calls: GateCall[],
  made: Fragment,
): Promise<(GateRow | undefined)[]> {
  const hashes = calls.flatMap((call, at) => call.hashes.map((hash) => ({ hash, place: at + 1 })));
  const rows = await sql<(GateRow & { place: number })[]>`
    with lock_limit as materialized (select set_config('lock_timeout', ${String(maxLockMs)}, true) as ms
    ), sent as (
      select sent.* from lock_limit, unnest(${hashes.map(({ hash }) => hash)}::bytea[],
        ${hashes.map(({ place }) => place)}::int[]) as sent(hash, place) where lock_limit.ms is not null
    ), key as (
      select sent.place, ${keyColumns(sql, scope)}
      from sent join api_keys k on k.hash = sent.hash join partners p on p.id = k.partner_id
      where k.revoked_at is null and ${hasNotEnded(sql)}
    ), counted as (
      insert into rate_counters as counter (partner_id, subject, action, minute, calls)
      select partner_id, id, ${endpoint}, date_trunc('minute', clock_timestamp()), 1 from key
      where not disabled and coalesce(slug = (${calls.map(({ owner }) => owner ?? null)}::text[])[place], true)
      order by partner_id, id
      ${countedWithin(sql, perMinute)}
    ), made as materialized (${made})
    select key.place, ${shownColumns(sql)}, made.*
    from key left join counted on counted.subject = key.id left join made on made.partner = key.partner_id`;
  return calls.map((_, at) => rows.find(({ place }) => place === at + 1));
}
