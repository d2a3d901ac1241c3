import { backoffMs } from '../lib/backoff.ts';
import { dayMs, hourMs, minuteMs } from '../lib/durations.ts';
import { dayOf } from '../lib/time.ts';

/** A day in UTC as `YYYY-MM-DD`. */
export type Day = string;

export const periods = ['day', 'week', 'month', 'year'] as const;
export type Period = (typeof periods)[number];

/** Recurring dates: the first one, and one every `every` periods after it. */
export type Schedule = { firstOn: Day; every: number; period: Period };

/** The most of each period that may lie between two dates. */
export const maxEvery: Record<Period, number> = { day: 365, week: 52, month: 24, year: 5 };
/** How many plans of one merchant may be open, or made within a day: each sends mails to somebody again and again. */
export const maxOpenPlans = 1000;
/** How many of them may be for one e-mail address. Nobody has proved that it is a customer's. */
export const maxPlansOfAddress = 50;
/** How many charges a plan may be set to end after. */
export const chargesLimit = 999;

/** The instant at which a day begins. */
export function startOf(day: Day): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** The same day a year later; for 29 February, the 28th. */
export function yearAfter(day: Day): Day {
  return dateOf({ firstOn: day, every: 1, period: 'year' }, 1);
}

/**
 * The date of a slot: 0 is the first one. Months and years keep the first date's day, or use the month's last day where
 * it has no such day: 31 January, 28 February, 31 March.
 */
export function dateOf({ firstOn, every, period }: Schedule, slot: number): Day {
  const [year, month, day] = partsOf(firstOn);
  if (period === 'day' || period === 'week') {
    const days = every * slot * (period === 'week' ? 7 : 1);
    return dayOf(Date.UTC(year, month, day + days));
  }
  const months = month + every * slot * (period === 'year' ? 12 : 1);
  const lastDay = new Date(Date.UTC(year, months + 1, 0)).getUTCDate();
  return dayOf(Date.UTC(year, months, Math.min(day, lastDay)));
}

/** The first slot whose date is later than a day. */
export function slotAfter(schedule: Schedule, day: Day): number {
  const { firstOn, every, period } = schedule;
  if (day < firstOn) return 0;
  const [year, month] = partsOf(day);
  const [firstYear, firstMonth] = partsOf(firstOn);
  const passed =
    period === 'day' || period === 'week'
      ? (startOf(day).getTime() - startOf(firstOn).getTime()) / dayMs / (period === 'week' ? 7 : 1)
      : ((year - firstYear) * 12 + month - firstMonth) / (period === 'year' ? 12 : 1);
  // The last slot whose date may be past by that day. If its date in the month is later than the day, it is not.
  const slot = Math.floor(passed / every);
  return dateOf(schedule, slot) > day ? slot : slot + 1;
}

/** The parts of a plan that decide its course. */
export type Course = Schedule & {
  /** Null: until somebody ends it. */
  maxCharges: number | null;
  charges: number;
  slot: number;
};

/** The dates of the next charges, at most this many. */
export function nextDates(course: Course, limit: number): Day[] {
  const left = course.maxCharges === null ? limit : course.maxCharges - course.charges;
  return Array.from({ length: Math.max(0, Math.min(limit, left)) }, (_, i) => dateOf(course, course.slot + i));
}

/** What comes after a charge: the slot and date of the next one, or null when that was the last. */
export function afterCharge(course: Course): { slot: number; nextOn: Day } | null {
  if (course.maxCharges !== null && course.charges + 1 >= course.maxCharges) return null;
  const slot = course.slot + 1;
  return { slot, nextOn: dateOf(course, slot) };
}

/**
 * Where a plan continues that is resumed on a day: at its next future date, so that nothing is charged for the pause.
 */
export function afterPause(course: Course, today: Day): { slot: number; nextOn: Day } {
  const slot = Math.max(course.slot, slotAfter(course, today));
  return { slot, nextOn: dateOf(course, slot) };
}

/**
 * How long to wait before retrying what has failed, or was postponed, this many times in a row: a minute, doubling each
 * time, up to an hour.
 */
export function retryMs(failures: number): number {
  return backoffMs(failures, { firstMs: minuteMs, maxMs: hourMs });
}

function partsOf(day: Day): [year: number, month: number, day: number] {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return [year, month - 1, date];
}
