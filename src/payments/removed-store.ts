import type { Context } from '../context.ts';
import type { Database } from '../db/connection.ts';
import type { Mode } from '../lib/mode.ts';
import type { RemovedToken } from './removed-tokens.ts';

// What waits for chains and tokens that CHAINS_FILE lacks. Lookups over all partners.

/** What can wait for a chain. */
export const waitings = [
  ...(['payments', 'open requests', 'refunds', 'automatic charges', 'revocations of agreements'] as const),
  'transactions of the relayer',
] as const;
export type Waiting = (typeof waitings)[number];

/**
 * Chains for which no open request waits any more, by id, with the time at which each was last read. That stays true
 * until the chain is read again, because a new request waits only for chains that are read.
 */
export type Unawaited = Map<number, Date>;

/** A chain that was read once, whether it is configured in each mode, and what waits for it. */
export type RemovedChainRow = { chain_id: string; updated_at: Date; in_test: boolean; in_live: boolean } & Record<
  Waiting,
  boolean
>;

/** All chains that were read once. The parameters are those of `removedChains`. */
export function selectRemovedChains(
  { db: { sql }, chains }: Pick<Context, 'db' | 'chains'>,
  isThorough: boolean,
  unawaited: Unawaited,
): Promise<RemovedChainRow[]> {
  // A chain of one mode is missing to the other: `lacking` are the values of test_mode that it is missing to. The order
  // makes the planner use an index: it expects to find one of many rows soon, where there is none in the other mode.
  return sql<RemovedChainRow[]>`
    select c.chain_id, c.updated_at, c.in_test, c.in_live,
      exists (select from transfers t where t.chain_id = c.chain_id and t.judged_at is null
        and t.test_mode = any(c.lacking))
        or exists (select from transfers t where t.chain_id = c.chain_id and t.counts and t.final_at is null
          and t.test_mode = any(c.lacking))
        as payments,
      case when ${isThorough} or not (c.in_test or c.in_live or c.unawaited) then exists (select from requests r
        where r.test_mode = any(c.lacking) and r.status in ('requested', 'opened') and r.proof_status = 'none'
          and r.expires_at > now() and r.created_at < c.updated_at + interval '1 minute'
          and (r.start_blocks->>(c.chain_id::text) is not null
            or (r.start_blocks - 'heads' = '{}' and not (c.in_test or c.in_live))))
        else false end as "open requests",
      exists (select from unnest(c.lacking) l (test_mode) cross join lateral (
        select from returns b where b.chain_id = c.chain_id and b.test_mode = l.test_mode
          and b.state in ('returning', 'sent') order by b.tx_hash limit 1) first) as refunds,
      exists (select from unnest(c.lacking) l (test_mode) cross join lateral (
        select from mandates m where m.chain_id = c.chain_id and m.test_mode = l.test_mode
          and m.state = 'active' order by m.id limit 1) first) as "automatic charges",
      exists (select from mandates m where m.chain_id = c.chain_id and m.revoke_due_at is not null
        and m.test_mode = any(c.lacking)) as "revocations of agreements",
      exists (select from relay_transactions t
        where t.chain_id = c.chain_id and t.state in ('allotted', 'sent', 'mined')
          and t.test_mode = any(c.lacking)) as "transactions of the relayer"
    from (
      select chain_id, updated_at, in_test, in_live, unawaited,
        case when in_test then '{false}' when in_live then '{true}' else '{true,false}' end::boolean[] as lacking
      from (
        select chain_id, updated_at, chain_id = any(${chains.test.map(({ chainId }) => chainId)}::bigint[]) as in_test,
          chain_id = any(${chains.live.map(({ chainId }) => chainId)}::bigint[]) as in_live,
          exists (
            select from unnest(${[...unawaited.keys()]}::bigint[], ${[...unawaited.values()]}::timestamptz[])
              as u (chain_id, read_at)
            where u.chain_id = chain_cursors.chain_id and chain_cursors.updated_at < u.read_at + interval '1 ms'
          ) as unawaited
        from chain_cursors) placed) c
    order by c.chain_id`;
}

/** When each chain was last read, by its id, and the time now: both by the database's clock. */
export async function selectReadTimes({ sql }: Database): Promise<{ now: Date; readAt: Map<number, Date> }> {
  const rows = await sql<{ now: Date; chain_id: string | null; updated_at: Date | null }[]>`
    select clock.now, c.chain_id, c.updated_at
    from (select clock_timestamp() as now) clock left join chain_cursors c on true`;
  const readAt = rows.flatMap(({ chain_id, updated_at }) =>
    chain_id !== null && updated_at !== null ? [[Number(chain_id), updated_at] as const] : [],
  );
  return { now: rows[0]?.now ?? new Date(0), readAt: new Map(readAt) };
}

type TokenRow = { chain_id: string; test_mode: boolean; token_address: string; waiting: RemovedToken['waiting'] };

/** Tokens at these chains, other than the known ones, for which something waits. */
export async function selectRemovedTokens(
  { sql }: Database,
  places: readonly { chainId: number; mode: Mode }[],
  known: readonly { chainId: number; address: string }[],
): Promise<TokenRow[]> {
  return sql<TokenRow[]>`
    select w.chain_id, w.test_mode, w.token_address, array_agg(w.what order by w.what) as waiting
    from (
      select chain_id, test_mode, token_address, 'payments' as what from transfers where judged_at is null
      union
      select chain_id, test_mode, token_address, 'payments' from transfers where counts and final_at is null
      union
      select chain_id, test_mode, token_address, 'refunds' from returns where state in ('returning', 'sent')
      union
      select chain_id, test_mode, token_address, 'automatic charges' from mandates where state = 'active') w
    where (w.chain_id, w.test_mode) in (
        select * from unnest(${places.map(({ chainId }) => chainId)}::bigint[],
          ${places.map(({ mode }) => mode === 'test')}::boolean[]))
      and (w.chain_id, w.token_address) not in (
        select * from unnest(${known.map(({ chainId }) => chainId)}::bigint[],
          ${known.map(({ address }) => address)}::text[]))
    group by w.chain_id, w.test_mode, w.token_address order by w.chain_id, w.token_address`;
}

/**
 * Lets payments in these tokens be matched again that were unmatched because their token was not known.
 *
 * @returns how many there were, up to `limit`
 */
export async function updateRematchKnown(
  { sql }: Database,
  known: readonly { chainId: number; isTest: boolean; address: string }[],
  limit: number,
): Promise<number> {
  const { count } = await sql`
    update transfers set judged_at = null, reason = null, candidate_request_id = null, looks = 0, look_at = now()
    where (chain_id, tx_hash, ordinal) in (
      select t.chain_id, t.tx_hash, t.ordinal
      from unnest(${known.map(({ chainId }) => chainId)}::bigint[], ${known.map(({ isTest }) => isTest)}::boolean[],
          ${known.map(({ address }) => address)}::text[]) as k (chain_id, test_mode, address)
        join transfers t on (t.chain_id, t.test_mode, t.token_address) = (k.chain_id, k.test_mode, k.address)
      where t.reason = 'wrong_token' and t.request_id is null limit ${limit})
      and reason = 'wrong_token' and request_id is null`;
  return count;
}
