import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayMs } from '../../lib/durations.ts';
import { dateOf, maxEvery, periods, type Schedule, startOf } from '../rules.ts';
import {
  allowanceOf,
  capMicro,
  chargesAllowed,
  maxChargesInYear,
  permitDeadline,
  shortestIntervalSeconds,
  unlimitedAllowance,
  validity,
} from './terms.ts';

const dayS = dayMs / 1000;
const schedules = fc
  .record({
    day: fc.date({ min: new Date('2026-01-01'), max: new Date('2032-12-31'), noInvalidDate: true }),
    period: fc.constantFrom(...periods),
    every: fc.integer({ min: 1, max: 365 }),
  })
  .map(({ day, period, every }): Schedule => {
    const firstOn = day.toISOString().slice(0, 10);
    return { firstOn, period, every: Math.min(every, maxEvery[period]) };
  });

test('the shortest interval of a mandate › the shortest gap between dates, less a day or a quarter, whichever is less', () => {
  const least = (period: Schedule['period'], every = 1, firstOn = '2026-01-31') =>
    shortestIntervalSeconds({ firstOn, period, every });
  assert.equal(least('month'), 27 * dayS); // 28 days from 31 January to 28 February
  assert.equal(least('week'), 6 * dayS);
  assert.equal(least('day'), 0.75 * dayS);
  assert.equal(least('day', 2), 1.5 * dayS);
  assert.equal(least('year'), 364 * dayS);
  assert.equal(least('month', 12, '2026-03-15'), 364 * dayS);
});

test('any schedule, the earlier of two dates charged a quarter late → they are no nearer than the shortest interval', () => {
  fc.assert(
    fc.property(schedules, fc.nat(400), (schedule, slot) => {
      const gap = (startOf(dateOf(schedule, slot + 1)).getTime() - startOf(dateOf(schedule, slot)).getTime()) / 1000;
      const least = shortestIntervalSeconds(schedule);
      assert.ok(least <= gap - Math.min(dayS, gap / 4) + 1);
      assert.ok(least >= dayS / 2);
    }),
  );
});

test('A mandate is valid from the date to come to 30 days after the last, and three years where there is no last', () => {
  const course = { firstOn: '2026-01-31', every: 1, period: 'month' as const, maxCharges: 3, charges: 0, slot: 0 };
  const early = new Date('2026-01-10T12:00:00.500Z');
  assert.deepEqual(validity({ ...course, nextOn: '2026-01-31' }, early), {
    startsAt: new Date('2026-01-31T00:00:00Z'),
    endsAt: new Date('2026-04-30T00:00:00Z'),
  });
  assert.deepEqual(validity({ ...course, maxCharges: null, nextOn: '2026-01-01' }, early), {
    startsAt: new Date('2026-01-10T12:00:00Z'),
    endsAt: new Date('2029-01-09T12:00:00Z'),
  });
  // A last date that is past, as after an outage: there is time for its charge still.
  const late = validity({ ...course, maxCharges: 1, nextOn: '2026-01-31' }, new Date('2026-05-01T00:00:00Z'));
  assert.equal(late.endsAt.getTime() - late.startsAt.getTime(), 30 * dayMs);
});

test('the cap of a mandate › the amount at the rate with its reserve, rounded up, and one cent for the surcharge', () => {
  assert.equal(capMicro({ fiatInt: 900n, exponent: 2, reservePercent: 0 }, '1'), 9_010_000n);
  assert.equal(capMicro({ fiatInt: 900n, exponent: 2, reservePercent: 10 }, '0.9'), 11_010_000n);
  assert.equal(capMicro({ fiatInt: 1000n, exponent: 0, reservePercent: 10 }, '150'), 7_343_334n);
});

test('the cap of a mandate, any rate → it covers a request of its amount with the largest surcharge', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2_147_483_647n }), fc.integer({ min: 1, max: 10_000 }), (fiatInt, rate) => {
      const text = (rate / 1000).toFixed(3);
      const priced = (fiatInt * 1_000_000n * 1000n + 100n * BigInt(rate) - 1n) / (100n * BigInt(rate));
      assert.ok(capMicro({ fiatInt, exponent: 2, reservePercent: 0 }, text) >= priced + 9_999n);
    }),
  );
});

test('the maximum of charges in a year › as many as the shortest interval allows until the mandate ends', () => {
  const from = new Date('2026-01-01T00:00:00Z');
  const until = (days: number) => new Date(from.getTime() + days * dayMs);
  assert.equal(maxChargesInYear(27 * dayS, from, until(1095)), 14);
  assert.equal(maxChargesInYear(364 * dayS, from, until(1095)), 2);
  assert.equal(maxChargesInYear(27 * dayS, from, until(30)), 2);
  assert.equal(maxChargesInYear(27 * dayS, from, until(26)), 1);
});

test('An allowance is for twelve charges or those that are left, added to the payer’s other plans', () => {
  assert.equal(chargesAllowed({ max_charges: null, charges: 40, uncollected: 2 }), 12);
  assert.equal(chargesAllowed({ max_charges: 20, charges: 15, uncollected: 0 }), 5);
  assert.equal(chargesAllowed({ max_charges: 20, charges: 15, uncollected: 2 }), 7);
  assert.equal(chargesAllowed({ max_charges: 24, charges: 0, uncollected: 0 }), 12);
  assert.equal(allowanceOf({ cap: 9_010_000n, charges: 12 }, 5_000_000n), 113_120_000n);
  assert.equal(allowanceOf({ cap: 9_010_000n, charges: null }, 5_000_000n), unlimitedAllowance);
  assert.equal(allowanceOf({ cap: 9_010_000n, charges: 12 }, null), unlimitedAllowance);
});

test('a permit → valid until 30 days after the first date', () => {
  assert.equal(permitDeadline(new Date('2026-01-01T00:00:00Z')), BigInt(Date.parse('2026-01-31T00:00:00Z') / 1000));
});
