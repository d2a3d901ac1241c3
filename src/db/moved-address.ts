import type { Logger } from 'pino';
import { pause, withinOr } from '../lib/time.ts';
import { type Database, type Sql, usualWaits } from './connection.ts';
import { timelineAt } from './database-id.ts';
import { openPool } from './pool.ts';
import { ownSessionSettings } from './session-settings.ts';

/** How often a new connection shows where the database's address leads. */
const lookEveryMs = 10_000;
/** How long the server that is being left may take to report its timeline. */
const answerMs = 2_000;

/** A server's timeline, which changes when a standby is promoted. Throws if the server accepts no changes. */
async function timelineOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ timeline: number }[]>`
    select ${timelineAt(sql, sql`pg_current_wal_flush_lsn()`)} as timeline`;
  if (!row) throw new Error('the server did not say its timeline');
  return row.timeline;
}

/**
 * Leaves a server when the database's address has moved to another one. An open connection stays with its server as
 * long as the server answers, even if a standby was promoted meanwhile. Everything that such a server still commits is
 * lost. So a new connection is opened regularly, and if it leads to another timeline, the pools replace all their
 * connections. Resolves when the signal aborts.
 *
 * @param url where the pools of `databases` connect
 */
export async function followAddress(
  databases: readonly Database[],
  url: string,
  log: Logger,
  signal: AbortSignal,
  everyMs = lookEveryMs,
): Promise<void> {
  const read = (sql: Sql) =>
    timelineOf(sql).catch((error) => {
      log.debug({ err: error }, 'the database’s timeline could not be read');
      return null;
    });
  const [first] = databases;
  let known = first ? await read(first.sql) : null;
  for (;;) {
    await pause(everyMs, signal);
    if (signal.aborted) return;
    const sql = openPool({ url, connections: 1, waits: usualWaits, settings: ownSessionSettings });
    const found = await read(sql);
    await sql.end();
    if (known !== null && found !== null && found !== known) await leave(databases, found, log);
    known = found ?? known;
  }
}

/** Replaces the connections of the pools, and logs whether the server that is left still calls itself the primary. */
async function leave(databases: readonly Database[], timeline: number, log: Logger): Promise<void> {
  const asked = databases.map(({ sql }) => timelineOf(sql).catch(() => timeline));
  const left = await withinOr(Promise.all(asked), answerMs, []);
  for (const { pools } of databases) for (const pool of pools) pool.renew();
  const old = left.find((other) => other !== timeline);
  const of = { timeline, ...(old !== undefined && { left: old }) };
  if (old === undefined) log.warn(of, 'the database’s address leads to another server');
  else log.error(of, 'two database servers call themselves primary: stop the one of the timeline that was left');
}
