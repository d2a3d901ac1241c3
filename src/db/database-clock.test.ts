import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as settled } from 'node:timers/promises';
import { pino } from 'pino';
import type { Sql } from './connection.ts';
import { DatabaseClock } from './database-clock.ts';

/** A clock that follows a database whose time the test sets. Its waits end by `tick`. */
async function following() {
  mock.timers.enable({ apis: ['setTimeout'] });
  const database = { asked: 0, at: new Date('2027-03-01T12:00:00Z') };
  const sql = (async () => {
    database.asked++;
    return [{ at: database.at }];
  }) as unknown as Sql;
  const stop = new AbortController();
  const clock = new DatabaseClock();
  await clock.measure(sql);
  const work = clock.follow(sql, pino({ enabled: false }), stop.signal);
  await settled();
  const tick = async (ms: number) => {
    mock.timers.tick(ms);
    await settled();
  };
  const end = async () => {
    stop.abort();
    await work;
    mock.timers.reset();
  };
  return { clock, database, tick, end };
}

test('a node asks the database for the time every ten seconds', async () => {
  const { database, tick, end } = await following();
  for (let second = 0; second < 9; second++) await tick(1_000);
  assert.equal(database.asked, 1);
  await tick(1_000);
  assert.equal(database.asked, 2);
  await end();
});

test('a machine that slept for an hour, whose steady clock stood still → the time is right a second after it woke', async () => {
  const { clock, database, tick, end } = await following();
  database.at = new Date('2027-03-01T13:00:00Z');
  const sinceMs = Date.now();
  const slept = mock.method(Date, 'now', () => sinceMs + 3_600_000);
  await tick(1_000);
  slept.mock.restore();
  assert.equal(database.asked, 2);
  assert.ok(clock.now() >= database.at);
  await end();
});
