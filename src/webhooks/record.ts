import type { Context } from '../context.ts';
import { isStored } from '../db/conflict.ts';
import { sqlState, type Tx } from '../db/connection.ts';
import { type FinishedAttempt, tally } from './attempt.ts';
import { createPartitions } from './attempt-partitions.ts';
import { type Disabled, logDisabled, queueDisabledNotice } from './disabled.ts';
import { endpointKey } from './endpoint-key.ts';
import { type EndpointKey, type HealthRow, lockHealth, selectCurrent, updateHealth } from './health-store.ts';
import { type ClaimedDelivery, recordAttempts } from './queue-store.ts';
import { isUnchanged, judgeHealth, probeAfterFailures, type Tally } from './rules.ts';

/**
 * `probeWaitMs`: how long no endpoint is probed; infinite when none will be. `held`: the attempts that were not recorded,
 * because another transaction has locked their endpoint.
 */
export type Recorded = { probeWaitMs: number; held: FinishedAttempt[] };

/** Everything was recorded, and no endpoint will be probed. */
export const noProbe: Recorded = { probeWaitMs: Number.POSITIVE_INFINITY, held: [] };

/**
 * Records a batch of attempts and, in the same transaction, what they mean for their endpoints. While everything
 * succeeds, endpoints are not written, and the transaction is one statement. If this month has no partition yet, it is
 * created first.
 *
 * @param whenLocked whether to wait for endpoints that another transaction has locked
 */
export async function recordFinished(
  ctx: Context,
  batch: FinishedAttempt[],
  whenLocked: 'wait' | 'skip',
): Promise<Recorded> {
  try {
    return await record(ctx, batch, whenLocked);
  } catch (error) {
    // The commit's answer was lost and the same batch came again: all of it is already stored.
    if (isStored(error, 'webhook_attempts')) return noProbe;
    if (sqlState(error) !== withoutPartition) throw error;
    await createPartitions(ctx);
    return record(ctx, batch, whenLocked);
  }
}

/** A failed check constraint, or a row that fits no partition. */
const withoutPartition = '23514';

async function record(ctx: Context, batch: FinishedAttempt[], whenLocked: 'wait' | 'skip'): Promise<Recorded> {
  const recordsOf = (finished: FinishedAttempt[]) => finished.map(({ record }) => record);
  const changed = changedEndpoints(batch, ctx.clock.now());
  if (changed.size === 0) {
    await recordAttempts(ctx.db.sql, recordsOf(batch));
    return noProbe;
  }
  return ctx.db.transaction(async (tx) => {
    const { rows, lockedElsewhere } = await lockEndpoints(tx, changed, whenLocked);
    const { held = [], free = [] } = Object.groupBy(batch, ({ claimed }) =>
      lockedElsewhere.has(keyOf(claimed)) ? 'held' : 'free',
    );
    if (free.length === 0) return { ...noProbe, held };
    const [updated] = await Promise.all([updateEndpoints(ctx, tx, changed, rows), recordAttempts(tx, recordsOf(free))]);
    await logDisabled(ctx, tx, updated.disabled);
    return { probeWaitMs: updated.probeWaitMs, held };
  });
}

/** Locks endpoints; `lockedElsewhere` are the keys of those that were left out because another transaction has. */
async function lockEndpoints(tx: Tx, changed: Changed, whenLocked: 'wait' | 'skip') {
  const keys = [...changed.values()].map(({ partner_id, test_mode, url }) => ({ partner_id, test_mode, url }));
  const rows = await lockHealth(tx, keys, whenLocked);
  if (whenLocked === 'wait' || rows.length === keys.length) return { rows, lockedElsewhere: new Set<string>() };
  const locked = new Set(rows.map(keyOfUrl));
  // One whose URL has changed meanwhile is not locked either: nothing of it is written.
  const current = (await selectCurrent(tx, keys)).map(keyOfUrl);
  return { rows, lockedElsewhere: new Set(current.filter((key) => !locked.has(key))) };
}

/** Keyed by URL too: a response from an earlier URL says nothing about the current one. */
const keyOfUrl = (row: EndpointKey) => `${endpointKey(row)} ${row.url}`;
const keyOf = (claimed: ClaimedDelivery) => keyOfUrl({ ...claimed, url: claimed.endpoint.url });

type Changed = Map<string, { partner_id: string; test_mode: boolean; url: string; tally: Tally; probes: string[] }>;

function changedEndpoints(batch: FinishedAttempt[], now: Date): Changed {
  const changed: Changed = new Map();
  const groups = Map.groupBy(batch, ({ claimed }) => keyOf(claimed));
  for (const [key, group] of groups) {
    const claimed = group[0]?.claimed;
    const sum = tally(group);
    if (!claimed || isUnchanged(claimed.endpoint, sum, now)) continue;
    const { partner_id, test_mode, endpoint } = claimed;
    const probes = group.flatMap((finished) => finished.claimed.endpoint.probe ?? []);
    changed.set(key, { partner_id, test_mode, url: endpoint.url, tally: sum, probes });
  }
  return changed;
}

/** Returns the endpoints that it disabled, and how long none is probed. */
async function updateEndpoints(
  ctx: Context,
  tx: Tx,
  changed: Changed,
  rows: HealthRow[],
): Promise<{ disabled: Disabled[]; probeWaitMs: number }> {
  const now = ctx.clock.now();
  const updates = rows.flatMap((row) => {
    const change = changed.get(keyOfUrl(row));
    if (!change) return [];
    const health = judgeHealth(row, change.tally, ctx.config.webhookScheduleMs, now);
    // Attempts from before probing began must not trigger another probe while one is in progress.
    const myTurn = row.failures < probeAfterFailures || (row.probe !== null && change.probes.includes(row.probe));
    const keepsProbe = health.probeWaitMs !== null && !myTurn;
    return [{ ...row, ...health, keepsProbe, disabledAt: health.disabled_reason ? now : null }];
  });
  await updateHealth(tx, updates);
  const disabled = updates.flatMap(({ disabled_reason, ...row }) => {
    const isNew = disabled_reason !== null && !rows.find((before) => sameEndpoint(before, row))?.disabled_reason;
    return isNew ? [{ ...row, disabled_reason }] : [];
  });
  for (const row of disabled) await queueDisabledNotice(ctx, tx, row);
  return { disabled, probeWaitMs: Math.min(...updates.flatMap(({ probeWaitMs }) => probeWaitMs ?? [])) };
}

type EndpointId = Pick<HealthRow, 'partner_id' | 'test_mode'>;

function sameEndpoint(a: EndpointId, b: EndpointId): boolean {
  return endpointKey(a) === endpointKey(b);
}
