import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { clearAlarms, raiseAlarm } from '../db/alarms.ts';
import type { Database } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';
import type { Mode } from '../lib/mode.ts';
import { selectReadTimes, selectRemovedChains, type Unawaited, type Waiting, waitings } from './removed-store.ts';
import { type RemovedToken, removedTokens } from './removed-tokens.ts';

/** How long nothing may be read from a chain before the operator is told. */
const alarmAfterMs = 2 * minuteMs;

/**
 * A chain that was read once and is not configured any more, and what still waits for it. `mode`: it is configured in
 * the other mode only, and what waits is of this one; null if it is in neither.
 */
export type RemovedChain = { chainId: number; mode: Mode | null; readAt: Date; waiting: Waiting[] };

/**
 * The chains that were read once and are not in CHAINS_FILE, or there in the other mode than what still waits for them.
 * A lookup over all partners. As long as it can be paid, a request waits for the chains whose newest blocks were
 * recorded when it was made. If no chain had a recent block then, it waits for every chain that was read by then.
 *
 * @param isThorough also finds open requests that wait for a chain of the other mode. This reads all open requests
 * @param unawaited chains for which no open request is looked up, because that would read all open requests
 */
export async function removedChains(
  ctx: Pick<Context, 'db' | 'chains'>,
  isThorough: boolean,
  unawaited: Unawaited = new Map(),
): Promise<RemovedChain[]> {
  const rows = await selectRemovedChains(ctx, isThorough, unawaited);
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
 * What each process remembers. `began`: when it began to watch; after all nodes were down, the chains must first be
 * read. `unawaited`: the chains that no open request waits for.
 */
const watches = new WeakMap<Database, { began: Date; unawaited: Unawaited }>();

/**
 * Raises an alarm for each chain from which nothing was read for two minutes, and clears it when the chain is read
 * again. A chain that was removed from CHAINS_FILE raises one only while something waits for it. Another node may have
 * the chain in its file and read it, so how far a chain was read decides, not this node's file.
 */
export const alarmSilentChains = (ctx: Context): Promise<void> => updateSilenceAlarms(ctx, alarmAfterMs, alarmAfterMs);

/**
 * As `alarmSilentChains`, with other limits: how long a chain must be silent, and how long this process must have
 * watched.
 */
export async function updateSilenceAlarms(
  ctx: Pick<Context, 'db' | 'chains'>,
  silentMs: number,
  watchedMs: number,
): Promise<void> {
  const { sql } = ctx.db;
  const { now, readAt } = await selectReadTimes(ctx.db);
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
    // A chain that moved to the other mode is read there. That does not help what waits in this mode.
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
