import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { dayOf } from '../lib/time.ts';
import {
  afterCharge,
  afterPause,
  dateOf,
  nextDates,
  periods,
  retryMs,
  type Schedule,
  slotAfter,
  yearAfter,
} from './rules.ts';

const dates = (schedule: Schedule, count: number) => Array.from({ length: count }, (_, slot) => dateOf(schedule, slot));

test('A plan that begins on the 31st charges on the last day of shorter months, and on the 31st again', () => {
  assert.deepEqual(dates({ firstOn: '2026-01-31', every: 1, period: 'month' }, 6), [
    ...['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31', '2026-06-30'],
  ]);
  assert.equal(dateOf({ firstOn: '2028-01-31', every: 1, period: 'month' }, 1), '2028-02-29');
  assert.deepEqual(dates({ firstOn: '2026-11-30', every: 3, period: 'month' }, 3), [
    '2026-11-30',
    '2027-02-28',
    '2027-05-30',
  ]);
});

test('A yearly plan of 29 February charges on the 28th, and on the 29th of leap years', () => {
  assert.deepEqual(dates({ firstOn: '2028-02-29', every: 1, period: 'year' }, 5), [
    ...['2028-02-29', '2029-02-28', '2030-02-28', '2031-02-28', '2032-02-29'],
  ]);
});

test('A year after a day is the same day, and the 28th for 29 February', () => {
  assert.equal(yearAfter('2026-11-30'), '2027-11-30');
  assert.equal(yearAfter('2028-02-29'), '2029-02-28');
});

test('slotAfter › a day before the first date, however long before → the first date', () => {
  for (const period of periods) {
    assert.equal(slotAfter({ firstOn: '2026-06-15', every: 1, period }, '2026-06-14'), 0);
    assert.equal(slotAfter({ firstOn: '2026-06-15', every: 1, period }, '2024-01-01'), 0);
  }
});

test('Days and weeks are counted through the ends of months and years', () => {
  assert.deepEqual(dates({ firstOn: '2026-12-30', every: 1, period: 'day' }, 3), [
    '2026-12-30',
    '2026-12-31',
    '2027-01-01',
  ]);
  assert.deepEqual(dates({ firstOn: '2026-12-21', every: 2, period: 'week' }, 3), [
    '2026-12-21',
    '2027-01-04',
    '2027-01-18',
  ]);
});

const anyDay = fc
  .date({ min: new Date('2024-01-01'), max: new Date('2040-12-31'), noInvalidDate: true })
  .map((at) => dayOf(at));

test('slotAfter › any plan and day → the first slot with a later date', () => {
  fc.assert(
    fc.property(
      anyDay,
      fc.constantFrom(...periods),
      fc.integer({ min: 1, max: 24 }),
      anyDay,
      (firstOn, period, every, day) => {
        const schedule = { firstOn, period, every };
        const slot = slotAfter(schedule, day);
        assert.ok(dateOf(schedule, slot) > day);
        assert.ok(slot === 0 || dateOf(schedule, slot - 1) <= day);
      },
    ),
    { numRuns: 2000 },
  );
});

test('the dates of a plan → strictly increasing, one per period', () => {
  fc.assert(
    fc.property(
      anyDay,
      fc.constantFrom(...periods),
      fc.integer({ min: 1, max: 24 }),
      fc.integer({ min: 0, max: 50 }),
      (firstOn, period, every, slot) => {
        const schedule = { firstOn, period, every };
        assert.ok(dateOf(schedule, slot) < dateOf(schedule, slot + 1));
      },
    ),
  );
});

const monthly = { firstOn: '2026-01-15', every: 1, period: 'month', maxCharges: null, charges: 0, slot: 0 } as const;

test('A resumed plan continues with its next future date, never with a past one', () => {
  assert.deepEqual(afterPause(monthly, '2026-04-14'), { slot: 3, nextOn: '2026-04-15' });
  assert.deepEqual(afterPause(monthly, '2026-04-15'), { slot: 4, nextOn: '2026-05-15' });
  assert.deepEqual(afterPause({ ...monthly, slot: 6 }, '2026-04-15'), { slot: 6, nextOn: '2026-07-15' });
  assert.deepEqual(afterPause(monthly, '2025-12-31'), { slot: 0, nextOn: '2026-01-15' });
});

test('A plan ends after the number of charges that it was set to, however many dates were passed over', () => {
  const twice = { ...monthly, maxCharges: 2, slot: 5 };
  assert.deepEqual(nextDates(twice, 6), ['2026-06-15', '2026-07-15']);
  assert.deepEqual(afterCharge(twice), { slot: 6, nextOn: '2026-07-15' });
  assert.equal(afterCharge({ ...twice, charges: 1 }), null);
  assert.deepEqual(nextDates({ ...twice, charges: 2 }, 6), []);
  assert.equal(nextDates(monthly, 3).length, 3);
});

test('What fails is tried again after a minute, then later each time, at most an hour later', () => {
  assert.deepEqual(
    [1, 2, 3, 6, 7, 40].map((failures) => retryMs(failures) / 60_000),
    [1, 2, 4, 32, 60, 60],
  );
});
