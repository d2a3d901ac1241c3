import { type Heads, lacksTag } from '../../chain/finality.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import type { Database } from '../../db/connection.ts';
import { minuteMs } from '../../lib/durations.ts';
import { selectLowestUnsettled } from '../queue-store.ts';
import type { TransferRow } from '../transfers.ts';
import { needsCrossCheck } from './heads.ts';

/** How long the oldest waiting payment may wait before the operator is told. */
const alarmAfterMs = 2 * minuteMs;

/**
 * The lowest block with a payment that waits, and since when it is the lowest. `isAlarmPossible`: whether an alarm may
 * stand. A process that has just started does not know what the one before it raised.
 */
type Wait = { block: number; since: Date; isAlarmPossible: boolean };

/** What each process knows of a chain; null once it knows that nothing waits. */
const waits = new WeakMap<Database, Map<number, Wait | null>>();

/**
 * Records whether verification waits for an endpoint of a chain, and raises an alarm after two minutes. It clears the
 * alarm when nothing waits any more, or when the payments that waited longest are settled: behind an endpoint that is
 * only slower than another, some payment always waits, and none for long.
 *
 * @param heads how far the chain was read; null if it never was. Where a tag of `finality` is missing, all that is not
 * final counts as waiting: nothing else says that an endpoint does not know the tag
 * @param waiting what could not be confirmed in this pass; transfers that were postponed before also count as waiting
 */
export async function updateUnconfirmedAlarm(
  ctx: Context,
  chain: ChainConfig,
  heads: Heads | null,
  waiting: readonly TransferRow[],
): Promise<void> {
  const { chainId, name } = chain;
  const known = waits.get(ctx.db) ?? new Map<number, Wait | null>();
  waits.set(ctx.db, known);
  const before = known.get(chainId);
  const isUntagged = heads !== null && lacksTag(chain.finality, heads);
  if (waiting.length === 0 && !isUntagged && before === null) return;
  const which = isUntagged ? 'all' : 'postponed';
  const isStored = isUntagged || needsCrossCheck(chain);
  const stored = isStored ? await selectLowestUnsettled(ctx.db, chainId, which) : null;
  const blocks = [...waiting.map((row) => Number(row.block_number)), ...(stored === null ? [] : [stored])];
  const block = blocks.length === 0 ? null : Math.min(...blocks);
  const now = ctx.clock.now();
  if (block === null || (before && block > before.block)) {
    if (block === null || before?.isAlarmPossible) await clearAlarm(ctx.db.sql, 'chain-unconfirmed', String(chainId));
    known.set(chainId, block === null ? null : { block, since: now, isAlarmPossible: false });
    return;
  }
  const wait = { block, since: before?.since ?? now, isAlarmPossible: before?.isAlarmPossible ?? true };
  known.set(chainId, wait);
  if (now.getTime() - wait.since.getTime() < alarmAfterMs) return;
  const details = { chainId, chain: name, since: wait.since.toISOString() };
  await raiseAlarm(ctx.db.sql, { kind: 'chain-unconfirmed', subject: String(chainId), details });
  wait.isAlarmPossible = true;
}
