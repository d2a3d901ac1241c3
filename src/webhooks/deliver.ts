import type { Context } from '../context.ts';
import { type Change, listenForChanges } from '../db/changes.ts';
import { makeSleeper } from '../lib/concurrency/sleeper.ts';
import { minuteMs } from '../lib/durations.ts';
import { jitter, pause } from '../lib/time.ts';
import { createDeliveryDeps, type DeliveryDeps } from './attempt.ts';
import { Claims } from './claim.ts';
import { activateDueSecrets } from './endpoint.ts';
import { LeasedWork } from './leased-work.ts';
import { firstWindow, maxAhead } from './rules.ts';
import { Scheduler } from './scheduler.ts';

export { createDeliveryDeps } from './attempt.ts';

/** The minimum number that is claimed at a time while there is little room, except every `crowdedPollMs`. */
const minClaim = maxAhead / 2;
const activateEveryMs = minuteMs;
const afterErrorMs = 1000;
const crowdedPollMs = 100;
/** How soon work without a notification is found, after another process died or listening failed. */
const usualPollMs = 5_000;
/** The minimum time between polls, so that a burst of changes causes only one. */
const restMs = 5;

/**
 * Delivers until the signal aborts: new events at once, whichever process wrote them, and failed ones when they are
 * due. Every few seconds it polls for work that no notification announced.
 */
export async function startDelivering(
  ctx: Context,
  signal: AbortSignal,
  deps: DeliveryDeps = createDeliveryDeps(ctx),
  pollMs = usualPollMs,
  scheduler = new Scheduler(firstWindow),
): Promise<void> {
  const sleeper = makeSleeper();
  const work = new LeasedWork(ctx, deps, scheduler, sleeper);
  const claims = new Claims(ctx, pollMs);
  const onChange = (change: Change) => {
    if (change.kind === 'endpoint' || change.kind === 'anything') claims.lookEverywhere();
    if (change.kind === 'deliveries' || change.kind === 'anything') sleeper.wake();
    if (change.kind !== 'endpoint') return;
    work
      .endpointChanged({ partner_id: change.partnerId, test_mode: change.testMode })
      .catch((error) => ctx.log.warn({ err: error }, 'leases could not be released'));
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
      const claimed = skip ? [] : await claims.next(scheduler, free);
      if (!skip) pollAgainAt = performance.now() + crowdedPollMs;
      await work.begin(claimed);
      if (claimed.length >= minClaim) continue;
      await pause(restMs, signal);
      if (claimed.length > 0) continue;
      const idleMs = Math.min(jitter(pollMs, 0.2), claims.lookEverywhereInMs());
      await sleeper.sleep(isNearLimit ? crowdedPollMs : idleMs, signal);
    } catch (error) {
      ctx.log.error({ err: error }, 'deliveries could not be claimed');
      await pause(afterErrorMs, signal);
    }
  }
  await work.stop();
  stopListening();
  await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
}
