import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { instantOfMs, parseInstant, pause } from './time.ts';

function accepts(text: string, iso: string): void {
  assert.equal(parseInstant(text)?.toISOString(), iso, text);
}

test('an instant in Z, in either case, with and without a fraction', () => {
  accepts('2026-02-03T04:05:06Z', '2026-02-03T04:05:06.000Z');
  accepts('2026-02-03T04:05:06.7Z', '2026-02-03T04:05:06.700Z');
  accepts('2026-02-03T04:05:06.789Z', '2026-02-03T04:05:06.789Z');
  accepts('2026-02-03t04:05:06z', '2026-02-03T04:05:06.000Z');
  accepts('2026-02-03T04:05:06.789000Z', '2026-02-03T04:05:06.789Z');
  accepts('2026-02-03T23:59:59.999999999Z', '2026-02-04T00:00:00.000Z');
});

test('an instant with an offset; a space is an unencoded plus', () => {
  accepts('2026-02-03T04:05:06+02:00', '2026-02-03T02:05:06.000Z');
  accepts('2026-02-03T04:05:06-05:30', '2026-02-03T09:35:06.000Z');
  accepts('2026-02-03T04:05:06 02:00', '2026-02-03T02:05:06.000Z');
  accepts('2026-02-03T04:05:06+00:00', '2026-02-03T04:05:06.000Z');
  accepts('2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000Z');
  accepts('2026-02-03T04:05:06+23:59', '2026-02-02T04:06:06.000Z');
});

test('a plain date is its midnight in UTC', () => accepts('2026-02-03', '2026-02-03T00:00:00.000Z'));

test('leap days exist in leap years only', () => {
  accepts('2028-02-29', '2028-02-29T00:00:00.000Z');
  accepts('2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z');
  for (const day of ['2026-02-29', '2100-02-29', '2027-02-29']) assert.equal(parseInstant(day), null, day);
});

test('days and times that do not exist are refused', () => {
  const texts = [
    '2026-02-30',
    '2026-02-30T00:00:00Z',
    '2026-04-31',
    '2026-00-10',
    '2026-13-01',
    '2026-01-00',
    '2026-01-32',
    '2026-01-01T24:00:00Z',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T23:59:60Z',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00+99:99',
    '2026-01-01T00:00:00-00:60',
  ];
  for (const text of texts) assert.equal(parseInstant(text), null, text);
});

test('text that is not a time → refused', () => {
  const texts = [
    '',
    ' ',
    'now',
    '2026',
    '2026-02',
    '20260203',
    '2026-2-3',
    '1770000000',
    '2026-02-03T04:05',
    '2026-02-03T04:05Z',
    '2026-02-03T04:05:06',
    '2026-02-03T04:05:06+0200',
    '2026-02-03T04:05:06+02',
    '2026-02-03T04:05:06 Z',
    '2026-02-03 04:05:06Z',
    '2026-02-03T04:05:06.Z',
    '2026-02-03T04:05:06.1234567890Z',
    '2026-02-03T04:05:06,5Z',
    '2026-02-03Z',
    '2026-02-03+02:00',
    '+002026-02-03T04:05:06Z',
    '-002026-02-03',
    '2026-02-03T04:05:06Z\n',
    '\n2026-02-03',
    '2026-02-03T04:05:06Zjunk',
    '２０２６-02-03',
    'Tue, 03 Feb 2026 04:05:06 GMT',
  ];
  for (const text of texts) assert.equal(parseInstant(text), null, JSON.stringify(text));
});

test('times before year 1 or after year 9999 become the first or last time of that range', () => {
  accepts('0001-01-01', '0001-01-01T00:00:00.000Z');
  accepts('0000-01-01', '0001-01-01T00:00:00.000Z');
  accepts('0001-01-01T00:00:00+01:00', '0001-01-01T00:00:00.000Z');
  accepts('0000-01-01T00:00:00+01:00', '0001-01-01T00:00:00.000Z');
  accepts('9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z');
  accepts('9999-12-31T23:59:59-01:00', '9999-12-31T23:59:59.999Z');
});

test('property: what toISOString writes is read back', () => {
  const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9998-12-31'), noInvalidDate: true });
  fc.assert(fc.property(dates, (date) => accepts(date.toISOString(), date.toISOString())));
});

test('property: an offset moves the instant by exactly itself', () => {
  const dates = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(dates, fc.integer({ min: -1439, max: 1439 }), (date, minutes) => {
      const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
      const [hh, mm] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
      const offset = `${minutes < 0 ? '-' : '+'}${String(hh).padStart(2, '0')}:${String(mm).padStart(2, '0')}`;
      accepts(local + offset, date.toISOString());
    }),
  );
});

test('a pause ends early when its signal aborts, and at once when it already has', async () => {
  const stop = new AbortController();
  const waiting = pause(60_000, stop.signal);
  stop.abort();
  await waiting;
  await pause(60_000, stop.signal);
  await pause(1);
});

test('an instant of a cursor is one that the database knows, or none', () => {
  assert.equal(instantOfMs('0')?.toISOString(), '1970-01-01T00:00:00.000Z');
  assert.equal(instantOfMs('253402300799999')?.toISOString(), '9999-12-31T23:59:59.999Z');
  for (const none of ['253402300800000', '999999999999999', '9999999999999999', '-1', '', '1e3', ' 1']) {
    assert.equal(instantOfMs(none), null, none);
  }
});
