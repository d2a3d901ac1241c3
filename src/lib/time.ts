/** Where the service reads the time, so that tests can move it. Limits and order are decided by the database's clock. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** Waits for a time, or less when the signal aborts; never throws. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}

const instantPattern = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?)(Z|[+-]\d{2}:\d{2}))?$/i;

/**
 * An RFC 3339 instant with `Z` or an offset, or a plain date (UTC midnight). A space stands for an unencoded `+`.
 *
 * @returns null for anything else, days that do not exist included
 */
export function parseInstant(text: string): Date | null {
  const match = instantPattern.exec(text.replace(' ', '+'));
  if (!match) return null;
  const [, day = '', time = '00:00:00', offset = 'Z'] = match;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day) return null;
  const instant = new Date(`${day}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(instant.getTime()) ? null : instant;
}
