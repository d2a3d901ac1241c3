import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { clearAlarms, raiseAlarm } from '../db/alarms.ts';
import type { Database } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';
import type { Mode } from '../lib/mode.ts';
import { type RemovedToken, removedTokens } from './removed-tokens.ts';

/** How long nothing may be read from a chain before the operator is told. */
const patienceMs = 2 * minuteMs;

/** What can wait for a chain. */
const waitings = [
  ...(['payments', 'open requests', 'refunds', 'automatic charges', 'revocations of agreements'] as const),
  'transactions of the relayer',
] as const;
type Waiting = (typeof waitings)[number];

/**
 * A chain that was read once and is not configured any more, and what still waits for it. `mode`: it is configured in
 * the other mode only, and what waits is of this one; null if it is in neither.
 */
export type RemovedChain = { chainId: number; mode: Mode | null; readAt: Date; waiting: Waiting[] };

type RemovedRow = { chain_id: string; updated_at: Date } & Record<Waiting, boolean>;

/**
 * Chains for which, since they were last read, no open request waited any more: their ids, with that time. Requests are
 * made to wait only for a chain that is read.
 */
export type Unawaited = Map<number, Date>;

/**
 * The chains that were read once and are not in CHAINS_FILE, or there in the other mode than what still waits for them.
 * A lookup over all partners. A request waits for the chains that it was made with, as long as it can be paid; for
 * every chain that was read when it was made, if no chain had a recent block then.
 *
 * @param isThorough also looks for open requests that wait for a chain of the other mode, which reads all that are open
 * @param unawaited for these chains open requests are not read, which would mean all that are open
 */
export async function removedChains(
  ctx: Pick<Context, 'db' | 'chains'>,
  isThorough: boolean,
  unawaited: Unawaited = new Map(),
): Promise<RemovedChain[]> {
  const idsOf = (mode: Mode) => ctx.chains[mode].map(({ chainId }) => chainId);
  // A chain of one mode is missing to the other: `lacking` are the values of test_mode that it is missing to. The order
  // makes the planner use an index: it expects to find one of many rows soon, where there is none in the other mode.
  const rows = await ctx.db.sql<(RemovedRow & { in_test: boolean; in_live: boolean })[]>`
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
        select chain_id, updated_at, chain_id = any(${idsOf('test')}::bigint[]) as in_test,
          chain_id = any(${idsOf('live')}::bigint[]) as in_live,
          exists (
            select from unnest(${[...unawaited.keys()]}::bigint[], ${[...unawaited.values()]}::timestamptz[])
              as u (chain_id, read_at)
            where u.chain_id = chain_cursors.chain_id and chain_cursors.updated_at < u.read_at + interval '1 ms'
          ) as unawaited
        from chain_cursors) placed) c
    order by c.chain_id`;
  return rows
    .map((row) => ({
      chainId: Number(row.chain_id),
      mode: row.in_test ? ('live' as const) : row.in_live ? ('test' as const) : null,
      readAt: row.updated_at,
      waiting: waitings.filter((one) => row[one]),
    }))
    .filter(({ mode, waiting }) => mode === null || waiting.length > 0);
}

/**
 * At start, logs for which chains and tokens something waits that CHAINS_FILE lacks. For a chain, an alarm follows in
 * two minutes.
 */
export async function announceRemovedChains(ctx: Pick<Context, 'db' | 'chains' | 'log'>): Promise<void> {
  const asked = Promise.all([removedChains(ctx, true), removedTokens(ctx)]);
  const [removed, tokens] = await asked.catch((error): [RemovedChain[], RemovedToken[]] => {
    ctx.log.warn({ err: error }, 'could not look for what waits for a chain that CHAINS_FILE lacks');
    return [[], []];
  });
  for (const { chainId, address, waiting } of tokens) {
    ctx.log.warn(
      { chain: chainId, token: address, waiting },
      'something waits for a token that CHAINS_FILE lacks at its chain: put it back, with "offered": false',
    );
  }
  for (const { chainId, mode, waiting } of removed) {
    if (waiting.length === 0) continue;
    ctx.log.warn(
      { chain: chainId, ...(mode && { mode }), waiting },
      'something waits for a chain that CHAINS_FILE lacks in its mode: put it back, with "offered": false for its tokens',
    );
  }
}

/**
 * What each process knows: since when it has watched, because after all nodes were down it first lets the chains be
 * read; and the chains that no open request waits for.
 */
const watches = new WeakMap<Database, { began: Date; unawaited: Unawaited }>();

/**
 * Raises an alarm for each chain of which nothing was read for two minutes, and clears it when it is read again. A
 * chain that was removed from CHAINS_FILE raises one only while something waits for it. Another node may have the chain
 * in its file and read it, so how far a chain was read decides, not this node's file.
 */
export const alarmSilentChains = (ctx: Context): Promise<void> => updateSilenceAlarms(ctx, patienceMs, patienceMs);

/** The same, with another patience, for this process having watched for a time. */
export async function updateSilenceAlarms(
  ctx: Pick<Context, 'db' | 'chains'>,
  silentMs: number,
  watchedMs: number,
): Promise<void> {
  const { sql } = ctx.db;
  const { now, readAt } = await readTimes(ctx.db);
  const { began, unawaited } = watches.get(ctx.db) ?? { began: now, unawaited: new Map() };
  watches.set(ctx.db, { began, unawaited });
  const lasts = (since: Date, ms: number) => now.getTime() - since.getTime() >= ms;
  const isLong = (since: Date) => lasts(since, silentMs) && lasts(began, watchedMs);
  const over: { kind: 'chain-silent' | 'chain-missing'; subject: string }[] = [];
  for (const { chainId, name } of allChains(ctx.chains)) {
    const subject = String(chainId);
    const since = readAt.get(chainId) ?? began;
    const details = { chainId, chain: name, since: since.toISOString() };
    if (isLong(since)) await raiseAlarm(sql, { kind: 'chain-silent', subject, details });
    else over.push({ kind: 'chain-silent', subject });
  }
  const missed = new Set<string>();
  for (const { chainId, mode, readAt: since, waiting } of await removedChains(ctx, false, unawaited)) {
    const subject = String(chainId);
    // A chain that moved to the other mode is read there, which helps nothing that waits in this one.
    const isMissed = (mode === null ? isLong(since) : lasts(began, watchedMs)) && waiting.length > 0;
    const details = { chainId, ...(mode && { mode }), since: since.toISOString(), waiting };
    if (mode === null && isLong(since) && !waiting.includes('open requests')) unawaited.set(chainId, since);
    if (isMissed) {
      await raiseAlarm(sql, { kind: 'chain-missing', subject, details });
      missed.add(subject);
    }
    // Another node with the chain in its file raised it; if nothing reads the chain any more, this node's alarm
    // replaces it.
    if (mode === null) over.push({ kind: 'chain-silent', subject });
  }
  for (const chainId of readAt.keys())
    if (!missed.has(String(chainId))) over.push({ kind: 'chain-missing', subject: String(chainId) });
  await clearAlarms(sql, over);
}

/** When each chain was last read, by its id, and the time now: both by the database's clock. */
async function readTimes({ sql }: Database): Promise<{ now: Date; readAt: Map<number, Date> }> {
  const rows = await sql<{ now: Date; chain_id: string | null; updated_at: Date | null }[]>`
    select clock.now, c.chain_id, c.updated_at
    from (select clock_timestamp() as now) clock left join chain_cursors c on true`;
  const readAt = rows.flatMap(({ chain_id, updated_at }) =>
    chain_id !== null && updated_at !== null ? [[Number(chain_id), updated_at] as const] : [],
  );
  return { now: rows[0]?.now ?? new Date(0), readAt: new Map(readAt) };
}
