import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { type Change, listenForChanges } from '../db/changes.ts';
import { isUnreachable } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';
import { makeSleeper, type Sleeper } from '../lib/sleeper.ts';
import { jitter, pause } from '../lib/time.ts';
import { attempt, createDeliveryDeps, type DeliveryDeps, type Finished } from './attempt.ts';
import { activateDueSecrets } from './endpoint.ts';
import { type Busy, type Claimed, claimDue, releaseLeases } from './queue-store.ts';
import { endpointKey, recordFinished } from './record.ts';
import { isCrowded, leaseMs, maxPosts, slotsPerEndpoint } from './rules.ts';

export { createDeliveryDeps, type DeliveryDeps } from './attempt.ts';

const maxBatch = 500;
const activateEveryMs = minuteMs;
/** At a stop, attempts in progress get this long; then they are left to the next process. */
const graceMs = 3000;
const afterErrorMs = 1000;
const crowdedPollMs = 100;
/** Work without a notification is found after this time: another process died, or listening failed. */
const usualPollMs = 5_000;
/** The minimum time between polls, so that a burst of changes causes only one. */
const restMs = 5;
/** Longer than an attempt can take. */
const passMs = 15_000;

/**
 * One pass: claims what is due, attempts it, records it.
 *
 * @returns how many attempts were made
 */
export async function deliverDue(ctx: Context, deps: DeliveryDeps): Promise<number> {
  await activateDueSecrets(ctx);
  const work = startWork(ctx, deps, makeSleeper());
  const claimed = await claim(ctx, [], maxPosts);
  for (const row of claimed) work.begin(row);
  await work.settled(passMs);
  return claimed.length;
}

/**
 * Delivers until the signal aborts: new events at once, whichever process wrote them, and failed ones when they are
 * due. Every few seconds it polls for work that no notification announced.
 */
export async function startDelivering(
  ctx: Context,
  signal: AbortSignal,
  deps: DeliveryDeps = createDeliveryDeps(ctx),
  pollMs = usualPollMs,
): Promise<void> {
  const sleeper = makeSleeper();
  const work = startWork(ctx, deps, sleeper);
  const onChange = ({ kind }: Change) => {
    if (kind === 'deliveries' || kind === 'anything') sleeper.wake();
  };
  const stopListening = listenForChanges(ctx.db, onChange, (error) =>
    ctx.log.warn({ err: error }, 'cannot listen for changes'),
  );
  let activatedAt = Number.NEGATIVE_INFINITY;
  let pollAgainAt = 0;
  while (!signal.aborted) {
    try {
      if (performance.now() - activatedAt > activateEveryMs) {
        activatedAt = performance.now();
        await activateDueSecrets(ctx);
      }
      const free = maxPosts - work.posts();
      // While this process is at its limit, most polls would find nothing it could take.
      const claimed = isCrowded(free) && performance.now() < pollAgainAt ? [] : await claim(ctx, work.busy(), free);
      for (const row of claimed) work.begin(row);
      if (claimed.length > 0) continue;
      if (performance.now() >= pollAgainAt) pollAgainAt = performance.now() + crowdedPollMs;
      await pause(restMs, signal);
      await sleeper.sleep(isCrowded(free) ? crowdedPollMs : jitter(pollMs, 0.2), signal);
    } catch (error) {
      ctx.log.error({ err: error }, 'deliveries could not be claimed');
      await pause(afterErrorMs, signal);
    }
  }
  await work.stop();
  stopListening();
  await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
}

async function claim(ctx: Context, busy: Busy[], free: number): Promise<Claimed[]> {
  if (free <= 0) return [];
  return claimDue(ctx.db.sql, busy, {
    lease: randomUUID(),
    free,
    slots: slotsPerEndpoint(free),
    firstWaitMs: ctx.config.webhookScheduleMs[0] ?? 0,
  });
}

/** The attempts in progress in this process. Attempts that end while a batch is being recorded form the next batch. */
function startWork(ctx: Context, deps: DeliveryDeps, sleeper: Sleeper) {
  const underWay = new Map<string, Claimed>();
  const perEndpoint = new Map<string, Busy>();
  const ended: Finished[] = [];
  let recording: Promise<void> | null = null;
  let stopped = false;

  const leave = (row: Claimed) => {
    underWay.delete(row.id);
    const busy = perEndpoint.get(endpointKey(row));
    if (busy && --busy.posts === 0) perEndpoint.delete(endpointKey(row));
  };

  const recordAll = async () => {
    while (ended.length > 0) {
      const batch = ended.splice(0, maxBatch);
      sleeper.wakeIn(await recordBatch(ctx, batch));
      for (const { claimed, record } of batch) {
        leave(claimed);
        if (record.state === 'waiting') sleeper.wakeIn(record.wait_ms);
      }
      sleeper.wake(); // there is room again
    }
    recording = null;
  };

  const settled = async (limitMs: number) => {
    const deadline = performance.now() + limitMs;
    while (underWay.size > 0 && performance.now() < deadline) await (recording ?? pause(5));
  };

  return {
    busy: () => [...perEndpoint.values()],
    posts: () => underWay.size,
    begin: (row: Claimed) => {
      underWay.set(row.id, row);
      const busy = perEndpoint.get(endpointKey(row)) ?? {
        partner_id: row.partner_id,
        test_mode: row.test_mode,
        posts: 0,
      };
      perEndpoint.set(endpointKey(row), busy);
      busy.posts++;
      attempt(ctx, deps, row).then(
        (finished) => {
          if (stopped) return; // its lease was given up
          ended.push(finished);
          recording ??= recordAll();
        },
        (error) => {
          ctx.log.error({ err: error, delivery_id: row.id }, 'a delivery attempt could not be made');
          leave(row);
        },
      );
    },
    settled,
    stop: async () => {
      await settled(graceMs);
      stopped = true;
      await recording;
      if (underWay.size > 0) await releaseLeases(ctx.db.sql, [...underWay.values()]);
    },
  };
}

/**
 * While the database is unreachable, a batch is retried as long as its leases last; if it were lost, its attempts would
 * be repeated. A batch that fails otherwise is recorded one by one, so that one bad row does not affect the others.
 *
 * @returns how long no endpoint is probed
 */
async function recordBatch(ctx: Context, batch: Finished[]): Promise<number> {
  const giveUpAt = performance.now() + leaseMs / 2;
  for (;;) {
    try {
      return await recordFinished(ctx, batch);
    } catch (error) {
      ctx.log.error({ err: error, attempts: batch.length }, 'attempts could not be recorded');
      const again = isUnreachable(error) && performance.now() < giveUpAt;
      if (!again && (isUnreachable(error) || batch.length === 1)) return Number.POSITIVE_INFINITY;
      if (!again) break;
      await pause(afterErrorMs);
    }
  }
  let probeWaitMs = Number.POSITIVE_INFINITY;
  for (const finished of batch) probeWaitMs = Math.min(probeWaitMs, await recordBatch(ctx, [finished]));
  return probeWaitMs;
}
