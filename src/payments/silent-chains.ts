import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { clearAlarms, raiseAlarm } from '../db/alarms.ts';
import type { Database } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';

/** How long nothing may be read from a chain before the operator is told. */
const patienceMs = 2 * minuteMs;

/** What can wait for a chain. */
const waitings = ['payments', 'open requests', 'refunds', 'automatic charges', 'transactions of the relayer'] as const;
type Waiting = (typeof waitings)[number];

/** A chain that was read once and is not configured any more, and what still waits for it. */
export type RemovedChain = { chainId: number; readAt: Date; waiting: Waiting[] };

/**
 * The chains that were read once and are not in CHAINS_FILE, with what still waits for them. A lookup over all
 * partners. A request waits for the chains that it was made with, as long as it can be paid; for every chain that was
 * read when it was made, if no chain had a recent block then.
 */
export async function removedChains(ctx: Pick<Context, 'db' | 'chains'>): Promise<RemovedChain[]> {
  const configured = allChains(ctx.chains).map(({ chainId }) => chainId);
  const rows = await ctx.db.sql<({ chain_id: string; updated_at: Date } & Record<Waiting, boolean>)[]>`
    select c.chain_id, c.updated_at,
      exists (select from transfers t where t.chain_id = c.chain_id and t.judged_at is null)
        or exists (select from transfers t where t.chain_id = c.chain_id and t.counts and t.final_at is null)
        as payments,
      exists (select from requests r where r.status in ('requested', 'opened') and r.proof_status = 'none'
        and r.expires_at > now() and r.created_at < c.updated_at + interval '1 minute'
        and (r.start_blocks->>(c.chain_id::text) is not null or r.start_blocks - 'heads' = '{}')) as "open requests",
      exists (select from returns b where b.chain_id = c.chain_id and b.state in ('returning', 'sent')) as refunds,
      exists (select from mandates m where m.chain_id = c.chain_id and m.state = 'active') as "automatic charges",
      exists (select from relay_transactions t
        where t.chain_id = c.chain_id and t.state in ('allotted', 'sent', 'mined')) as "transactions of the relayer"
    from chain_cursors c where c.chain_id <> all(${configured}::bigint[]) order by c.chain_id`;
  return rows.map((row) => ({
    chainId: Number(row.chain_id),
    readAt: row.updated_at,
    waiting: waitings.filter((one) => row[one]),
  }));
}

/** Since when each process has watched. After all nodes were down, it first lets the chains be read. */
const beginnings = new WeakMap<Database, Date>();

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
  const began = beginnings.get(ctx.db) ?? now;
  beginnings.set(ctx.db, began);
  const lasts = (since: Date, ms: number) => now.getTime() - since.getTime() >= ms;
  const isLong = (since: Date) => lasts(since, silentMs) && lasts(began, watchedMs);
  const over: { kind: 'chain-silent' | 'chain-missing'; subject: string }[] = [];
  for (const { chainId, name } of allChains(ctx.chains)) {
    const subject = String(chainId);
    const since = readAt.get(chainId) ?? began;
    const details = { chainId, chain: name, since: since.toISOString() };
    if (isLong(since)) await raiseAlarm(sql, { kind: 'chain-silent', subject, details });
    else over.push({ kind: 'chain-silent', subject });
    over.push({ kind: 'chain-missing', subject });
  }
  for (const { chainId, readAt: since, waiting } of await removedChains(ctx)) {
    const subject = String(chainId);
    const details = { chainId, since: since.toISOString(), waiting };
    const isMissed = isLong(since) && waiting.length > 0;
    if (isMissed) await raiseAlarm(sql, { kind: 'chain-missing', subject, details });
    else over.push({ kind: 'chain-missing', subject });
    // Another node with the chain in its file raised it; if nothing reads the chain any more, this node's alarm
    // replaces it.
    over.push({ kind: 'chain-silent', subject });
  }
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
