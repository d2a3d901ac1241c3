import { dayMs } from '../../lib/durations.ts';
import { dayOf } from '../../lib/time.ts';
import type { Words } from '../../ui/language.ts';
import { oneOf } from '../../web/query.ts';

/** The numbers of days to choose from, as they stand in the address. */
export const dayCounts = ['7', '30', '90'] as const;

/**
 * A period of whole days in UTC. `days` or `month` (`2026-11`) names it, as in the address. `until` is exclusive and
 * can be in the future. `dayCount`: its days until today.
 */
export type Period = { since: Date; until: Date; dayCount: number } & (
  | { days: string; month: null }
  | { days: null; month: string }
);

const midnight = (day: string) => new Date(`${day}T00:00:00Z`);

/** The period that a query names: a month up to the current one, or otherwise a number of days, by default 30. */
export function periodOf(query: Record<string, string>, now: Date): Period {
  const month = query.month !== undefined ? monthOf(query.month, now) : null;
  if (month) return month;
  const days = oneOf(dayCounts, query.days) ?? '30';
  const since = midnight(dayOf(now.getTime() - (Number(days) - 1) * dayMs));
  return { since, until: now, dayCount: Number(days), days, month: null };
}

/** A month as a period; null for anything else, and for a month that has not begun. */
export function monthOf(name: string, now: Date): (Period & { month: string }) | null {
  const [, year, month] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(name) ?? [];
  if (year === undefined || month === undefined) return null;
  const since = midnight(`${year}-${month}-01`);
  const until = new Date(Date.UTC(Number(year), Number(month), 1));
  if (since > now) return null;
  const end = Math.min(until.getTime(), midnight(dayOf(now)).getTime() + dayMs);
  return { since, until, dayCount: (end - since.getTime()) / dayMs, days: null, month: name };
}

/** The current month and the one before, as `2026-11`, without one that ended before `first`. */
export function latestMonths(first: Date, now: Date): string[] {
  return [0, -1]
    .map((step) => dayOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + step, 1)).slice(0, 7))
    .filter((month) => month >= dayOf(first).slice(0, 7));
}

/** The name of a month, such as “November 2026”. */
export function monthName(words: Words, month: string): string {
  const format = new Intl.DateTimeFormat(words.locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return format.format(midnight(`${month}-01`));
}
