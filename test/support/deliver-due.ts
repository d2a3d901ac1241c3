import type { Context } from '../../src/context.ts';
import { makeSleeper } from '../../src/lib/concurrency/sleeper.ts';
import type { DeliveryDeps } from '../../src/webhooks/attempt.ts';
import { Claims } from '../../src/webhooks/claim.ts';
import { activateDueSecrets } from '../../src/webhooks/endpoint.ts';
import { LeasedWork } from '../../src/webhooks/leased-work.ts';
import { maxPosts, maxWindow } from '../../src/webhooks/rules.ts';
import { Scheduler } from '../../src/webhooks/scheduler.ts';

/** Longer than an attempt can take. */
const passMs = 15_000;

/**
 * One pass of the loop that delivers: claims what is due, attempts it, records it.
 *
 * @returns how many attempts were made
 */
export async function deliverDue(ctx: Context, deps: DeliveryDeps): Promise<number> {
  await activateDueSecrets(ctx);
  const scheduler = new Scheduler(maxWindow);
  const work = new LeasedWork(ctx, deps, scheduler, makeSleeper());
  const claimed = await new Claims(ctx, 0).next(scheduler, maxPosts);
  await work.begin(claimed);
  await work.settled(passMs);
  return claimed.length;
}
