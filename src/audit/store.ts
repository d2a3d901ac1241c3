import type { Sql, Tx } from '../db/connection.ts';
import { setIdleTimeout } from '../db/idle-timeout.ts';
import { contentOf, type Entry, noHash } from './rules.ts';

/** A row of the log: `number` is its place in its chain. */
export type AuditRow = Entry & { number: string; hash: Buffer };

/**
 * Appends an entry to its chain. The chain's end is locked until commit, so nothing that waits may follow, and an idle
 * transaction is ended.
 */
export async function appendEntry(tx: Tx | Sql, entry: Entry): Promise<void> {
  const content = contentOf(entry);
  await tx`
    with place as (
      insert into audit_chains as chain (partner_id, last_number, last_hash)
      values (${entry.partner_id}, 1, sha256(${noHash}::bytea || convert_to(${`1\n${content}`}, 'UTF8')))
      on conflict (partner_id) do update set last_number = chain.last_number + 1,
        last_hash = sha256(chain.last_hash || convert_to(chain.last_number + 1 || ${`\n${content}`}, 'UTF8'))
      returning last_number as number, last_hash as hash, ${setIdleTimeout(tx)})
    insert into audit_log (partner_id, number, at, test_mode, actor_kind, actor_id, actor_name, action, object_kind,
      object_id, ip, user_agent, details, hash)
    select ${entry.partner_id}, number, ${entry.at}::timestamptz, ${entry.test_mode}::boolean, ${entry.actor_kind},
      ${entry.actor_id}::uuid, ${entry.actor_name}, ${entry.action}, ${entry.object_kind}, ${entry.object_id}, ${entry.ip},
      ${entry.user_agent}, ${entry.details}::json, hash
    from place`;
}

/** The role of a partner's user at this moment; null for a user who was removed. */
export async function selectRole(tx: Tx | Sql, userId: string): Promise<string | null> {
  const [row] = await tx<{ role: string | null }[]>`
    select role from users where id = ${userId} and disabled_at is null`;
  return row?.role ?? null;
}

/** Whether a user has not been disabled. */
export async function isEnabled(tx: Tx, userId: string): Promise<boolean> {
  const { count } = await tx`select from users where id = ${userId} and disabled_at is null`;
  return count === 1;
}

/** The end of a log: as recorded separately, and as its newest entry has it. Both are null for an empty log. */
export type ChainEnd = {
  partner_id: string;
  last_number: string | null;
  last_hash: Buffer | null;
  newest_row: string | null;
};

/** The ends of all logs, or of one, in order, from after an identifier. */
export function selectChains(
  sql: Sql,
  { partnerId, after, noPartner }: { partnerId: string | null; after: string | null; noPartner: string },
  limit: number,
): Promise<ChainEnd[]> {
  return sql<ChainEnd[]>`
    select o.id as partner_id, c.last_number, c.last_hash,
      (select number from audit_log l where l.partner_id = o.id order by number desc limit 1) as newest_row
    from (select id from partners union all select ${noPartner}::uuid) o left join audit_chains c on c.partner_id = o.id
    where (${partnerId}::uuid is null or o.id = ${partnerId}) and (${after}::uuid is null or o.id > ${after})
    order by o.id limit ${limit}`;
}

/** Rows of a chain in order, from one number on. */
export function selectEntries(sql: Sql, partnerId: string, from: bigint, limit: number): Promise<AuditRow[]> {
  return sql<AuditRow[]>`
    select * from audit_log where partner_id = ${partnerId} and number >= ${from.toString()}
    order by number limit ${limit}`;
}

/** Filters of a log; absent ones do not filter. `before` is the number of the entry to continue from. */
export type LogFilter = { action?: string; actor?: string; since?: Date; until?: Date; before?: bigint };

/** Rows of a chain, the newest first by their time. */
export function selectLog(tx: Tx, partnerId: string, filter: LogFilter, limit: number): Promise<AuditRow[]> {
  const { action, actor, since, until, before } = filter;
  return tx<AuditRow[]>`
    select * from audit_log where partner_id = ${partnerId}
      ${action === undefined ? tx`` : tx`and action = ${action}`}
      ${actor === undefined ? tx`` : tx`and actor_name = ${actor}`}
      ${since === undefined ? tx`` : tx`and at >= ${since}`}
      ${until === undefined ? tx`` : tx`and at < ${until}`}
      ${
        before === undefined
          ? tx``
          : tx`and (at, number) < (select b.at, b.number from audit_log b
              where b.partner_id = ${partnerId} and b.number = ${before.toString()})`
      }
    order by at desc, number desc limit ${limit}`;
}
