/** Where the service reads the time, so that tests can move it. The database's clock decides limits and order. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };

/** Waits for a time, or until the signal aborts; never throws. */
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

/**
 * Waits for work, but not longer than this. The work itself is not stopped.
 *
 * @throws what `late` returns, once the time is up
 */
export async function within<T>(work: Promise<T>, limitMs: number, late: () => Error): Promise<T> {
  const limit = Promise.withResolvers<never>();
  const timer = setTimeout(() => limit.reject(late()), limitMs);
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}

/** Waits for work, but not longer than this: then it returns `late`. The work itself is not stopped. */
export async function withinOr<T, L>(work: Promise<T>, limitMs: number, late: L): Promise<T | L> {
  const enough = new AbortController();
  const limit = pause(limitMs, enough.signal).then(() => late);
  return Promise.race([work, limit]).finally(() => enough.abort());
}

/** The day of an instant in UTC, as `YYYY-MM-DD`. */
export const dayOf = (at: Date | number): string => new Date(at).toISOString().slice(0, 10);

const hourMinute = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`;
const instantPattern = new RegExp(
  String.raw`^(\d{4}-\d{2}-\d{2})(?:T(${hourMinute}:[0-5]\d(?:\.\d{1,9})?)(Z|[+-]${hourMinute}))?$`,
  'i',
);
/** Digits beyond milliseconds, which `Date` leaves out. */
const betweenMs = /\.\d{3}\d*[1-9]/;
/** The database writes years with four digits and has no year 0. Times beyond are clamped to these limits. */
const firstInstantMs = Date.parse('0001-01-01T00:00:00.000Z');
const lastInstantMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an RFC 3339 instant with `Z` or an offset, or a plain date (UTC midnight). A space stands for an unencoded
 * `+`. Between two milliseconds it is the later one: what is stored in whole ones is before either or before neither.
 *
 * @returns null for anything else, including days, hours and leap seconds that do not exist
 */
export function parseInstant(text: string): Date | null {
  const match = instantPattern.exec(text.replace(' ', '+'));
  if (!match) return null;
  const [, day = '', time = '00:00:00', offset = 'Z'] = match;
  const midnight = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || dayOf(midnight) !== day) return null;
  const instantMs = Date.parse(`${day}T${time}${offset.toUpperCase()}`);
  return Number.isNaN(instantMs) ? null : knownInstant(betweenMs.test(time) ? instantMs + 1 : instantMs);
}

/** An instant that the database can store: one beyond its range is clamped. */
export function knownInstant(ms: number): Date {
  return new Date(Math.min(Math.max(ms, firstInstantMs), lastInstantMs));
}

/** The instant in a cursor, in milliseconds since 1970; null for a text that is not one of our cursors. */
export function instantOfMs(text: string): Date | null {
  return /^\d{1,15}$/.test(text) && Number(text) <= lastInstantMs ? new Date(Number(text)) : null;
}

/** A wait varied by ± the given share, so that many clients do not return at the same moment. */
export function jitter(ms: number, share: number, random: () => number = Math.random): number {
  return Math.round(ms * (1 - share + 2 * share * random()));
}
