import type { Context } from '../context.ts';
import { isUnreachable } from '../db/connection.ts';
import type { Sleeper } from '../lib/concurrency/sleeper.ts';
import { pause } from '../lib/time.ts';
import { attempt, type DeliveryDeps, type FinishedAttempt } from './attempt.ts';
import { type EndpointId, endpointKey } from './endpoint-key.ts';
import { type ClaimedDelivery, releaseLeases } from './queue-store.ts';
import { noProbe, type Recorded, recordFinished } from './record.ts';
import { leaseMs } from './rules.ts';
import type { Scheduler } from './scheduler.ts';

const maxBatch = 500;
/** How long ended attempts wait for others to be recorded with. */
const recordDelayMs = 10;
/** How many batches are recorded at once; the second begins when this many attempts wait for the first. */
const maxRecorders = 2;
const minSecondBatch = 100;
/** Once this many attempts wait to be recorded, nothing more is claimed. */
const maxUnrecorded = 2_000;
/** At a stop, attempts in progress get this long; then they are left to the next process. */
const graceMs = 3000;
const afterErrorMs = 1000;

/**
 * The deliveries that this process has leased. Whenever an attempt ends, another begins; ended ones are recorded in
 * batches meanwhile.
 */
export class LeasedWork {
  readonly #ctx: Context;
  readonly #deps: DeliveryDeps;
  readonly #scheduler: Scheduler;
  readonly #sleeper: Sleeper;
  readonly #leased = new Set<ClaimedDelivery>();
  /** Ended attempts that no recorder has taken yet. */
  readonly #ended: FinishedAttempt[] = [];
  /** How many have ended and are not recorded. */
  #unrecorded = 0;
  readonly #recorders = new Set<Promise<void>>();
  #recording = 0;
  /**
   * Attempts whose endpoint another transaction has locked, by endpoint. They wait for the lock; other attempts do not.
   */
  readonly #heldUp: FinishedAttempt[][] = [];
  #isWaiting = false;
  #isStopped = false;

  /**
   * @param scheduler decides what is attempted, and when
   * @param sleeper is woken when there is room, or something is due again
   */
  constructor(ctx: Context, deps: DeliveryDeps, scheduler: Scheduler, sleeper: Sleeper) {
    this.#ctx = ctx;
    this.#deps = deps;
    this.#scheduler = scheduler;
    this.#sleeper = sleeper;
  }

  /** How many more deliveries there is room for. */
  free(): number {
    return this.#unrecorded < maxUnrecorded ? this.#scheduler.free() : 0;
  }

  /** Takes over what was claimed, and gives back what could not be attempted in time. */
  async begin(claimed: ClaimedDelivery[]): Promise<void> {
    for (const row of claimed) this.#leased.add(row);
    this.#scheduler.add(claimed);
    this.#startAttempts();
    await this.#releaseUnattempted();
  }

  /** Gives back what was claimed for an endpoint that has changed since: its attempts would go to the earlier URL. */
  async endpointChanged(endpoint: EndpointId): Promise<void> {
    this.#scheduler.changed(endpoint);
    await this.#releaseUnattempted();
  }

  /** Waits until all are attempted and recorded, but not longer than this. */
  async settled(limitMs: number): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (this.#leased.size > 0 && performance.now() < deadline) await Promise.race([pause(5), ...this.#recorders]);
  }

  /** Begins no further attempt. Those in progress get some seconds; the leases of what is left are given up. */
  async stop(): Promise<void> {
    const { log, db } = this.#ctx;
    this.#scheduler.clear();
    await this.#releaseUnattempted().catch((error) => log.warn({ err: error }, 'leases could not be released'));
    await this.settled(graceMs);
    this.#isStopped = true;
    await Promise.all(this.#recorders);
    if (this.#leased.size > 0) await releaseLeases(db.sql, [...this.#leased]);
  }

  #startAttempts(): void {
    if (this.#isStopped) return;
    for (let row = this.#scheduler.next(); row !== null; row = this.#scheduler.next()) {
      const begun = row;
      attempt(this.#ctx, this.#deps, begun).then(
        (finished) => {
          if (!this.#isStopped) this.#finish(finished); // otherwise its lease was given up
        },
        (error) => {
          this.#ctx.log.error({ err: error, delivery_id: begun.id }, 'a delivery attempt could not be made');
          this.#leased.delete(begun);
          this.#scheduler.ended(begun, false);
          this.#scheduler.recorded(begun);
        },
      );
    }
  }

  #finish(finished: FinishedAttempt): void {
    this.#scheduler.ended(finished.claimed, finished.succeeded);
    this.#ended.push(finished);
    this.#unrecorded++;
    this.#startRecorder();
    this.#startAttempts();
  }

  #startRecorder(): void {
    if (this.#recording > 0 && (this.#recording === maxRecorders || this.#ended.length < minSecondBatch)) return;
    this.#run(this.#recordAll());
  }

  #run(recording: Promise<void>): void {
    const recorder = recording.finally(() => this.#recorders.delete(recorder));
    this.#recorders.add(recorder);
  }

  async #recordAll(): Promise<void> {
    this.#recording++;
    if (this.#ended.length < minSecondBatch) await pause(recordDelayMs);
    while (this.#ended.length > 0) {
      const batch = this.#ended.splice(0, maxBatch);
      const { probeWaitMs, held } = await recordBatch(this.#ctx, batch, 'skip');
      const isHeld = new Set(held);
      this.#recorded(
        batch.filter((finished) => !isHeld.has(finished)),
        probeWaitMs,
      );
      if (held.length > 0) this.#hold(held);
    }
    this.#recording--;
  }

  #hold(held: FinishedAttempt[]): void {
    this.#heldUp.push(...Map.groupBy(held, ({ claimed }) => endpointKey(claimed)).values());
    if (!this.#isWaiting) this.#run(this.#recordHeldUp());
  }

  async #recordHeldUp(): Promise<void> {
    this.#isWaiting = true;
    for (let batch = this.#heldUp.shift(); batch; batch = this.#heldUp.shift()) {
      this.#recorded(batch, (await recordBatch(this.#ctx, batch, 'wait')).probeWaitMs);
    }
    this.#isWaiting = false;
  }

  /** @param probeWaitMs how long no endpoint is probed */
  #recorded(batch: FinishedAttempt[], probeWaitMs: number): void {
    this.#sleeper.wakeIn(probeWaitMs);
    this.#unrecorded -= batch.length;
    for (const { claimed, record, succeeded } of batch) {
      this.#leased.delete(claimed);
      if (!succeeded) this.#scheduler.recorded(claimed);
      if (record.state === 'waiting') this.#sleeper.wakeIn(record.wait_ms);
    }
    this.#startAttempts();
    this.#sleeper.wake(); // there is room again
  }

  async #releaseUnattempted(): Promise<void> {
    const rows = this.#scheduler.takeBack();
    if (rows.length === 0) return;
    for (const row of rows) this.#leased.delete(row);
    await releaseLeases(this.#ctx.db.sql, rows);
  }
}

/**
 * While the database is unreachable, a batch is retried as long as its leases last; otherwise its attempts would be
 * repeated. A batch that fails otherwise is recorded one by one, so that one bad row does not affect the others.
 */
async function recordBatch(ctx: Context, batch: FinishedAttempt[], whenLocked: 'wait' | 'skip'): Promise<Recorded> {
  const giveUpAt = performance.now() + leaseMs / 2;
  for (;;) {
    try {
      return await recordFinished(ctx, batch, whenLocked);
    } catch (error) {
      ctx.log.error({ err: error, attempts: batch.length }, 'attempts could not be recorded');
      const again = isUnreachable(error) && performance.now() < giveUpAt;
      if (!again && (isUnreachable(error) || batch.length === 1)) return noProbe;
      if (!again) break;
      await pause(afterErrorMs);
    }
  }
  const all: Recorded = { ...noProbe, held: [] };
  for (const finished of batch) {
    const { probeWaitMs, held } = await recordBatch(ctx, [finished], whenLocked);
    all.probeWaitMs = Math.min(all.probeWaitMs, probeWaitMs);
    all.held.push(...held);
  }
  return all;
}
