import type { HeldKeys } from '../../chain/relay/relay.ts';
import type { Database, Sql, Tx } from '../../db/connection.ts';
import type { Due } from '../../db/due.ts';
import type { ClaimKey, CollectionRow } from './store.ts';

/**
 * The mode of the chain; how many charges of one partner, and of all partners, are claimed; and how many of one partner
 * may wait to be mined.
 */
type Limits = {
  testMode: boolean;
  now: Date;
  leaseUntil: Date;
  ofOne: number;
  all: number;
  waiting: number;
  keys: HeldKeys;
};

/**
 * Leases the due charges of a chain in its mode, over all partners. Those of the other mode wait until the chain is
 * back in it. Every partner's first comes before anyone's second, so a partner with thousands delays nobody. A plan's
 * oldest charge comes first, and its others wait for it. No more of a partner's are claimed than there is room for
 * among its calls that wait to be mined. A charge that another transaction has locked is skipped, so nodes that claim
 * charges at once never deadlock. See `HeldKeys` for those that this node cannot send.
 */
export function claimDueCharges(
  db: Database,
  chainId: number,
  { testMode, now, leaseUntil, ofOne, all, waiting, keys }: Limits,
): Promise<ClaimKey[]> {
  return db.sql<ClaimKey[]>`
    with due as materialized (
      select due.partner_id, due.test_mode, due.request_id
      from partners w
        cross join lateral (
          select o.partner_id, o.test_mode, o.request_id, row_number() over (order by o.due_at) as turn
          from collections o
          where o.chain_id = ${chainId} and o.partner_id = w.id and o.test_mode = ${testMode} and o.state = 'waiting'
            and o.due_at <= ${now} and not exists (
              select from collections e where e.partner_id = o.partner_id and e.test_mode = o.test_mode
                and e.plan_id = o.plan_id and e.number < o.number and e.state in ('waiting', 'sent'))
            and (o.due_at <= ${keys.leftSince} or not exists (
              select from mandates a where a.partner_id = o.partner_id and a.test_mode = o.test_mode
                and a.plan_id = o.plan_id and a.state = 'active' and a.executor <> all(${keys.addresses}::text[])))
          order by o.due_at limit ${ofOne}) due
        left join (
          select t.partner_id, t.test_mode, count(*) as calls from relay_transactions t
          where t.chain_id = ${chainId} and t.state in ('allotted', 'sent') group by t.partner_id, t.test_mode) busy
          on (busy.partner_id, busy.test_mode) = (due.partner_id, due.test_mode)
      where due.turn <= ${waiting} - coalesce(busy.calls, 0)
      order by due.turn, random() limit ${all}), free as (
      select c.partner_id, c.test_mode, c.request_id
      from due join collections c using (partner_id, test_mode, request_id)
      where c.state = 'waiting' and c.due_at <= ${now} for update of c skip locked)
    update collections c set due_at = ${leaseUntil} from free
    where (c.partner_id, c.test_mode, c.request_id) = (free.partner_id, free.test_mode, free.request_id)
    returning c.partner_id, c.test_mode, c.request_id, c.due_at`;
}

/**
 * Postpones due charges that wait for an earlier charge of their plan, to the time at which that one is tried again: it
 * cannot end before, unless they end with it. So not every poll for work reads them again until then. Leaves out
 * charges whose earlier one is claimed, or due before `soon`.
 *
 * @param ofOne how many charges of one partner and mode are looked at
 * @returns how many were postponed
 */
export async function updateBlocked(
  { sql }: Database,
  chainId: number,
  { now, soon, ofOne }: { now: Date; soon: Date; ofOne: number },
): Promise<number> {
  const { count } = await sql`
    update collections c set due_at = k.earlier_at
    from (
      select b.partner_id, b.test_mode, b.request_id, earlier.due_at as earlier_at
      from partners w cross join (values (false), (true)) mode (test)
        cross join lateral (
          select o.partner_id, o.test_mode, o.request_id, o.plan_id, o.number from collections o
          where o.chain_id = ${chainId} and o.partner_id = w.id and o.test_mode = mode.test and o.state = 'waiting'
            and o.due_at <= ${now}
          order by o.due_at limit ${ofOne}) due
        cross join lateral (
          select e.state, e.due_at from collections e
          where e.partner_id = due.partner_id and e.test_mode = due.test_mode and e.plan_id = due.plan_id
            and e.number < due.number and e.state in ('waiting', 'sent')
          order by e.number limit 1) earlier
        join collections b on (b.partner_id, b.test_mode, b.request_id) = (due.partner_id, due.test_mode, due.request_id)
      where earlier.state = 'waiting' and earlier.due_at > ${soon} and b.state = 'waiting' and b.due_at <= ${now}
      for update of b skip locked) k
    where (c.partner_id, c.test_mode, c.request_id) = (k.partner_id, k.test_mode, k.request_id)`;
  return count;
}

/** A charge whose transaction the chain has decided. */
export type DecidedRow = CollectionRow & {
  relay_state: 'final' | 'reverted' | 'lost';
  /**
   * Whether a transfer of zero value was mined in its place: no endpoint took it, or something had overtaken it, which
   * is the charge's `reason` then.
   */
  cancelled: boolean;
};

/** Charges of a chain whose transactions have ended, successfully or not; at most this many. */
export function selectDecided(sql: Sql, chainId: number, limit: number): Promise<DecidedRow[]> {
  return sql<DecidedRow[]>`
    select c.*, t.state as relay_state,
      exists (select from relay_variants v where v.hash = t.hash and v.cancels) as cancelled
    from collections c join relay_transactions t on t.id = c.relay_id
    where c.chain_id = ${chainId} and c.state = 'sent' and t.state in ('final', 'reverted', 'lost') limit ${limit}`;
}

/** Ends the charges whose transactions are final. */
export async function updateCharged(sql: Sql, rows: CollectionRow[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  await sql`
    update collections c set state = 'charged', ended_at = ${now}, reason = null, reason_at = null
    where c.relay_id = any(${rows.map((row) => row.relay_id)}::uuid[]) and c.state = 'sent'`;
}

/**
 * Whether somebody has paused or ended a plan `p`. A plan that made its last charge has ended without anybody's action.
 */
export const isOver = (sql: Sql) => sql`
  (p.state = 'paused' or (p.state = 'ended' and p.charges is distinct from p.max_charges))`;

/**
 * Makes charges due again whose transactions moved nothing. A transaction that no endpoint took cost a fee and delayed
 * those after it, like one that was reverted, so it must not be sent again at once; one that was overtaken may be. A
 * charge of a plan that was paused or ended meanwhile is stopped instead.
 */
export async function updateReturned(sql: Sql, rows: DecidedRow[], now: Date): Promise<void> {
  if (rows.length === 0) return;
  const isRefused = (row: DecidedRow) => row.cancelled && row.reason === null;
  const reverted = rows.map((row) => row.relay_state === 'reverted' || isRefused(row));
  await sql`
    update collections c set reverted = k.reverted,
      state = case when ${isOver(sql)} then 'stopped' else 'waiting' end,
      due_at = case when ${isOver(sql)} then null else ${now}::timestamptz end,
      ended_at = case when ${isOver(sql)} then ${now}::timestamptz end,
      reason = case when ${isOver(sql)} then 'plan_' || p.state end,
      reason_at = case when ${isOver(sql)} then ${now}::timestamptz end
    from unnest(${rows.map((row) => row.relay_id)}::uuid[], ${reverted}::boolean[]) as k (relay_id, reverted)
      cross join plans p
    where c.relay_id = k.relay_id and c.state = 'sent'
      and (p.partner_id, p.test_mode, p.id) = (c.partner_id, c.test_mode, c.plan_id)`;
}

/** Makes waiting charges of these requests due no sooner than at a time; those that are claimed are given up. */
export async function updatePaymentRemoved(
  tx: Tx,
  requests: readonly { partnerId: string; testMode: boolean; requestId: string }[],
  { now, dueAt }: { now: Date; dueAt: Date },
): Promise<void> {
  await tx`
    update collections c set due_at = greatest(c.due_at, ${dueAt}), reason = 'payment_seen', reason_at = ${now}
    from unnest(${requests.map((one) => one.partnerId)}::uuid[], ${requests.map((one) => one.testMode)}::boolean[],
        ${requests.map((one) => one.requestId)}::uuid[]) as k (partner_id, test_mode, request_id)
    where (c.partner_id, c.test_mode, c.request_id) = (k.partner_id, k.test_mode, k.request_id) and c.state = 'waiting'`;
}

/**
 * Moves waiting charges from chains other than these to the chain of their plan's mandate or, if there is none, to the
 * first of these. Leaves out charges whose mandate is still on their chain.
 *
 * @returns how many were moved
 */
export async function updateStranded(
  { sql }: Database,
  { isTest, chainIds, now }: { isTest: boolean; chainIds: readonly number[]; now: Date },
): Promise<number> {
  const [first] = chainIds;
  if (first === undefined) return 0;
  const { count } = await sql`
    update collections c set chain_id = coalesce(k.chain_id, ${first}), mandate_id = coalesce(k.mandate_id, c.mandate_id),
      due_at = ${now}
    from (
      select o.partner_id, o.test_mode, o.request_id, a.id as mandate_id, a.chain_id
      from collections o
        left join mandates a on (a.partner_id, a.test_mode, a.plan_id) = (o.partner_id, o.test_mode, o.plan_id)
          and a.state = 'active'
      where o.state = 'waiting' and o.test_mode = ${isTest} and o.chain_id <> all(${[...chainIds]}::bigint[])
        and (a.id is null or a.chain_id = any(${[...chainIds]}::bigint[]))
      for update of o skip locked) k
    where (c.partner_id, c.test_mode, c.request_id) = (k.partner_id, k.test_mode, k.request_id)`;
  return count;
}

/** When the loop of a chain has work: a charge that no earlier one of its plan blocks, or a transaction's outcome. */
export const collectionsDue =
  (chainId: number): Due =>
  (sql) =>
    sql`
    select least(
      (select o.due_at from collections o
        where o.chain_id = ${chainId} and o.state = 'waiting' and not exists (
          select from collections e where e.partner_id = o.partner_id and e.test_mode = o.test_mode
            and e.plan_id = o.plan_id and e.number < o.number and e.state in ('waiting', 'sent'))
        order by o.due_at limit 1),
      (select now() from collections c join relay_transactions t on t.id = c.relay_id
        where c.chain_id = ${chainId} and c.state = 'sent' and t.state in ('final', 'reverted', 'lost') limit 1))`;
