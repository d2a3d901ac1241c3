import { dayMs, minuteMs } from '../../lib/durations.ts';
import { toUsdcMicro } from '../../lib/money.ts';
import { type Course, type Day, dateOf, type Schedule, startOf } from '../rules.ts';

/** How many charges an allowance covers unless the plan has fewer left, or the payer chooses otherwise. */
const usualCharges = 12;
/** How long a customer has to sign what a page offered. */
export const offerMs = 30 * minuteMs;
/** How long after the first date a permit may be used. */
const permitMs = 30 * dayMs;
/** The largest allowance that a token can store: what payers call unlimited. */
export const unlimitedAllowance = 2n ** 256n - 1n;

const dayS = dayMs / 1000;
const yearS = 365 * dayS;
const openEndedMs = 3 * 365 * dayMs;
/** Retries of the last charge come after its date. */
const afterLastMs = 30 * dayMs;
/** Enough dates to include every month and a leap year. */
const comparedDates = 100;
/** A request may ask for up to 9,999 micro units more, so that its amount identifies it. */
const surchargeMicro = 10_000n;

/**
 * The minimum time between two charges, in seconds: the shortest gap between two dates, less a day or a quarter of the
 * gap. So after a late charge (a retry) the next one can still be made on its date.
 */
export function shortestIntervalSeconds(schedule: Schedule): number {
  const days = Array.from({ length: comparedDates }, (_, slot) => startOf(dateOf(schedule, slot)).getTime());
  const gaps = days.slice(1).map((at, i) => (at - (days[i] ?? 0)) / 1000);
  const shortest = Math.min(...gaps);
  return Math.floor(shortest - Math.min(dayS, shortest / 4));
}

/**
 * The time in which a plan may be charged: from the next date, or from now if that is past, to 30 days after the last
 * date; without a last date, for three years.
 */
export function validity(course: Course & { nextOn: Day }, now: Date): { startsAt: Date; endsAt: Date } {
  const nowS = new Date(Math.floor(now.getTime() / 1000) * 1000);
  const first = startOf(course.nextOn);
  const startsAt = first > nowS ? first : nowS;
  if (course.maxCharges === null) return { startsAt, endsAt: new Date(startsAt.getTime() + openEndedMs) };
  const lastSlot = course.slot + Math.max(0, course.maxCharges - course.charges - 1);
  const last = Math.max(startOf(dateOf(course, lastSlot)).getTime(), startsAt.getTime());
  return { startsAt, endsAt: new Date(last + afterLastMs) };
}

/**
 * The most that one charge may take, in micro units: the maximum in fiat at a rate, with the reserve, and one cent for
 * the surcharge that identifies a request.
 */
export function capMicro(cap: { fiatInt: bigint; exponent: number; reservePercent: number }, rate: string): bigint {
  const whole = toUsdcMicro(cap.fiatInt * BigInt(100 + cap.reservePercent), cap.exponent + 2, rate);
  return whole + surchargeMicro;
}

/** How many charges the contract would allow within 365 days: the most that can be taken in a year. */
export function maxChargesInYear(minIntervalSeconds: number, startsAt: Date, endsAt: Date): number {
  const span = Math.min(yearS, (endsAt.getTime() - startsAt.getTime()) / 1000);
  return Math.floor(span / minIntervalSeconds) + 1;
}

/** A plan whose charges an allowance is for. `uncollected`: how many were made and are still to be collected. */
type Chargeable = { max_charges: number | null; charges: number; uncollected: number };

/** How many charges a plan can still take from an allowance; null: until somebody ends it. */
export function chargesLeft({ max_charges, charges, uncollected }: Chargeable): number | null {
  return max_charges === null ? null : Math.max(1, max_charges - charges + uncollected);
}

/** How many charges an allowance covers, unless the payer chooses otherwise. */
export const chargesAllowed = (plan: Chargeable): number => Math.min(usualCharges, chargesLeft(plan) ?? usualCharges);

/** The allowance needed for this plan's charges and those of the payer's other plans. Null: without limit. */
export function allowanceOf(own: { cap: bigint; charges: number | null }, othersMicro: bigint | null): bigint {
  if (own.charges === null || othersMicro === null) return unlimitedAllowance;
  return own.cap * BigInt(own.charges) + othersMicro;
}

/** Until when a permit may be used, in unix seconds: 30 days after the next date. */
export function permitDeadline(startsAt: Date): bigint {
  return BigInt(Math.floor((startsAt.getTime() + permitMs) / 1000));
}
