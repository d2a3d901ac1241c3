import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { type Change, listenForChanges } from '../db/changes.ts';
import { isUnreachable } from '../db/connection.ts';
import { makeSleeper, type Sleeper } from '../lib/concurrency/sleeper.ts';
import { minuteMs } from '../lib/durations.ts';
import { jitter, pause } from '../lib/time.ts';
import { attempt, createDeliveryDeps, type DeliveryDeps, type FinishedAttempt } from './attempt.ts';
import { activateDueSecrets } from './endpoint.ts';
import { Pace } from './pace.ts';
import { type ClaimedDelivery, claimDue, releaseLeases } from './queue-store.ts';
import { recordFinished } from './record.ts';
import { firstWindow, leaseMs, maxAhead, maxPosts, maxWindow } from './rules.ts';

export { createDeliveryDeps, type DeliveryDeps } from './attempt.ts';

const maxBatch = 500;
/** The minimum number that is claimed at a time while there is little room, except every `crowdedPollMs`. */
const minClaim = maxAhead / 2;
/** How long ended attempts wait for others to be recorded with. */
const recordDelayMs = 10;
/** How many batches are recorded at once; the second begins when this many attempts wait for the first. */
const maxRecorders = 2;
const minSecondBatch = 100;
/** While so many attempts wait to be recorded, nothing is claimed. */
const maxUnrecorded = 2_000;
const activateEveryMs = minuteMs;
/** At a stop, attempts in progress get this long; then they are left to the next process. */
const graceMs = 3000;
const afterErrorMs = 1000;
const crowdedPollMs = 100;
/** How soon work without a notification is found, after another process died or listening failed. */
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
  const pace = new Pace(maxWindow);
  const work = startWork(ctx, deps, makeSleeper(), pace);
  const claimed = await claim(ctx, pace, maxPosts);
  await work.begin(claimed);
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
  const pace = new Pace(firstWindow);
  const work = startWork(ctx, deps, sleeper, pace);
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
      const free = work.free();
      // While this process is at its limit, most polls would find nothing it could take.
      const isNearLimit = free < minClaim;
      const skip = isNearLimit && performance.now() < pollAgainAt;
      const claimed = skip ? [] : await claim(ctx, pace, free);
      if (!skip) pollAgainAt = performance.now() + crowdedPollMs;
      await work.begin(claimed);
      if (claimed.length >= minClaim) continue;
      await pause(restMs, signal);
      if (claimed.length > 0) continue;
      await sleeper.sleep(isNearLimit ? crowdedPollMs : jitter(pollMs, 0.2), signal);
    } catch (error) {
      ctx.log.error({ err: error }, 'deliveries could not be claimed');
      await pause(afterErrorMs, signal);
    }
  }
  await work.stop();
  stopListening();
  await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
}

async function claim(ctx: Context, pace: Pace, free: number): Promise<ClaimedDelivery[]> {
  if (free <= 0) return [];
  return claimDue(ctx.db.sql, pace.rooms(), {
    lease: randomUUID(),
    free: Math.min(free, maxPosts),
    freeUnproven: pace.freeUnproven(),
    window: pace.window,
    firstWaitMs: ctx.config.webhookScheduleMs[0] ?? 0,
  });
}

/**
 * The deliveries that this process has leased. Whenever an attempt ends, another begins; ended ones are recorded in
 * batches meanwhile.
 */
function startWork(ctx: Context, deps: DeliveryDeps, sleeper: Sleeper, pace: Pace) {
  const leased = new Set<ClaimedDelivery>();
  const ended: FinishedAttempt[] = [];
  let unrecorded = 0;
  let recording = 0;
  const recorders = new Set<Promise<void>>();
  let stopped = false;

  const recordAll = async () => {
    recording++;
    if (ended.length < minSecondBatch) await pause(recordDelayMs);
    while (ended.length > 0) {
      const batch = ended.splice(0, maxBatch);
      sleeper.wakeIn(await recordBatch(ctx, batch));
      unrecorded -= batch.length;
      for (const { claimed, record, succeeded } of batch) {
        leased.delete(claimed);
        if (!succeeded) pace.recorded(claimed);
        if (record.state === 'waiting') sleeper.wakeIn(record.wait_ms);
      }
      startAttempts();
      sleeper.wake(); // there is room again
    }
    recording--;
  };
  const startRecorder = () => {
    if (recording > 0 && (recording === maxRecorders || ended.length < minSecondBatch)) return;
    const recorder = recordAll().finally(() => recorders.delete(recorder));
    recorders.add(recorder);
  };

  const finish = (finished: FinishedAttempt) => {
    pace.ended(finished.claimed, finished.succeeded);
    ended.push(finished);
    unrecorded++;
    startRecorder();
    startAttempts();
  };

  const startAttempts = () => {
    if (stopped) return;
    for (let row = pace.next(); row !== null; row = pace.next()) {
      const begun = row;
      attempt(ctx, deps, begun).then(
        (finished) => {
          if (!stopped) finish(finished); // otherwise its lease was given up
        },
        (error) => {
          ctx.log.error({ err: error, delivery_id: begun.id }, 'a delivery attempt could not be made');
          leased.delete(begun);
          pace.ended(begun, false);
          pace.recorded(begun);
        },
      );
    }
  };

  const releaseUnattempted = async () => {
    const rows = pace.takeBack();
    if (rows.length === 0) return;
    for (const row of rows) leased.delete(row);
    await releaseLeases(ctx.db.sql, rows);
  };

  const settled = async (limitMs: number) => {
    const deadline = performance.now() + limitMs;
    while (leased.size > 0 && performance.now() < deadline) await Promise.race([pause(5), ...recorders]);
  };

  return {
    free: () => (unrecorded < maxUnrecorded ? pace.free() : 0),
    /** Takes over what was claimed, and gives back what could not be attempted in time. */
    begin: async (claimed: ClaimedDelivery[]) => {
      for (const row of claimed) leased.add(row);
      pace.add(claimed);
      startAttempts();
      await releaseUnattempted();
    },
    settled,
    stop: async () => {
      pace.clear();
      await releaseUnattempted().catch((error) => ctx.log.warn({ err: error }, 'leases could not be released'));
      await settled(graceMs);
      stopped = true;
      await Promise.all(recorders);
      if (leased.size > 0) await releaseLeases(ctx.db.sql, [...leased]);
    },
  };
}

/**
 * While the database is unreachable, a batch is retried as long as its leases last; otherwise its attempts would be
 * repeated. A batch that fails otherwise is recorded one by one, so that one bad row does not affect the others.
 *
 * @returns how long no endpoint is probed
 */
async function recordBatch(ctx: Context, batch: FinishedAttempt[]): Promise<number> {
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
