import type { Logger } from 'pino';
import { type Clock, pause } from '../lib/time.ts';
import type { Sql } from './connection.ts';

/** How often a node compares, and the longest answer that says something about the time. */
const measureEveryMs = 10_000;
const lookEveryMs = 1_000;
const maxAnswerMs = 1_000;
/** Smaller differences are within what an answer can tell; following them would make the time go back and forth. */
const toleratedMs = 250;

/** From this difference on, a machine's clock is called wrong. */
export const wrongFromMs = 2_000;

/**
 * The database's time, so that all nodes agree whatever their machines' clocks say. It is asked for now and then, and
 * counted on in between, so it does not jump when somebody sets the machine's clock. Until it was first asked for, the
 * machine's own time.
 */
export class DatabaseClock implements Clock {
  #known: { timeMs: number; atMs: number } | null = null;

  now(): Date {
    return this.#known ? new Date(this.#known.timeMs + performance.now() - this.#known.atMs) : new Date();
  }

  /** Asks the database once. An answer that took too long is used only if there is no other yet. */
  async measure(sql: Sql): Promise<void> {
    const askedMs = performance.now();
    const [row] = await sql<{ at: Date }[]>`select clock_timestamp() as at`;
    const answeredMs = performance.now();
    if (!row || (this.#known && answeredMs - askedMs > maxAnswerMs)) return;
    const fresh = { timeMs: row.at.getTime() + (answeredMs - askedMs) / 2, atMs: answeredMs };
    if (this.#known && Math.abs(fresh.timeMs - this.now().getTime()) < toleratedMs) return;
    this.#known = fresh;
  }

  /**
   * Asks again and again until the signal aborts; not at once, because whoever made the clock has just asked. The log
   * says when the machine's clock is found wrong, and when it is right again.
   */
  async follow(sql: Sql, log: Logger, signal: AbortSignal): Promise<void> {
    let wasWrong = false;
    while (!signal.aborted) {
      const aheadMs = machineAheadMs(this);
      const isWrong = Math.abs(aheadMs) >= wrongFromMs;
      if (isWrong && !wasWrong)
        log.warn(
          { ahead_ms: aheadMs },
          'this machine’s clock differs from the database’s, which counts: synchronise both (NTP)',
        );
      if (!isWrong && wasWrong) log.warn('this machine’s clock agrees with the database’s again');
      wasWrong = isWrong;
      await untilDue(signal);
      if (signal.aborted) return;
      await this.measure(sql).catch((error) => log.debug({ err: error }, 'the database’s time could not be read'));
    }
  }
}

/** Waits for the next comparison, which is due at once if the machine slept: meanwhile what we count on stood still. */
async function untilDue(signal: AbortSignal): Promise<void> {
  const differenceMs = () => Date.now() - performance.now();
  const beforeMs = differenceMs();
  for (let waitedMs = 0; waitedMs < measureEveryMs && !signal.aborted; waitedMs += lookEveryMs) {
    await pause(lookEveryMs, signal);
    if (Math.abs(differenceMs() - beforeMs) > toleratedMs) return;
  }
}

/** How far the machine's clock is ahead of the service's, in milliseconds; negative if it is behind. */
export const machineAheadMs = (clock: Clock): number => Date.now() - clock.now().getTime();
