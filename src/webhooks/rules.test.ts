import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../config.ts';
import { dayMs, hourMs, minuteMs } from '../lib/durations.ts';
import type { PostOutcome } from '../net/post.ts';
import { type Health, isActivated, isUnchanged, judgeAttempt, judgeHealth, retryAfterMs } from './rules.ts';

const now = new Date('2026-06-01T12:00:00Z');
const answered = (statusCode: number, retryAfter: string | null = null): PostOutcome => ({
  statusCode,
  retryAfter,
  responseHeaders: {},
  responseBody: '',
  durationMs: 1,
});
const schedule = readConfig({ SECRET_KEYS: `t:${Buffer.alloc(32).toString('base64')}` }).webhookScheduleMs;

describe('what happens after an attempt', () => {
  test('the schedule is 0 s, 5 s, 30 s, 2 min, 10 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h, 24 h', () => {
    const hours = [2, 5, 10, 14, 20, 24].map((hour) => hour * 3600);
    assert.deepEqual(
      schedule,
      [0, 5, 30, 120, 600, 1800, ...hours].map((seconds) => seconds * 1000),
    );
  });

  test('a 2xx status → success; any other → failure', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(299, 300), fc.integer({ min: 200, max: 599 })), (status) => {
        const { state } = judgeAttempt(0, answered(status), schedule, now);
        assert.equal(state, status < 300 ? 'delivered' : 'waiting');
      }),
    );
    for (const error of ['timeout', 'dns', 'refused_address', 'tls', 'connection'] as const) {
      assert.equal(judgeAttempt(0, { error, durationMs: 1 }, schedule, now).state, 'waiting');
    }
  });

  test('each wait is the planned one ±20 %; Retry-After stretches it at most twofold and never shortens it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 }), fc.option(fc.nat({ max: 200_000 })), (attempts, retryAfter) => {
        const outcome = answered(503, retryAfter === null ? null : `${retryAfter}`);
        const planned = schedule[attempts + 1] ?? 0;
        const { waitMs } = judgeAttempt(attempts, outcome, schedule, now);
        const plain = judgeAttempt(attempts, answered(503), schedule, now, () => 0.5).waitMs;
        assert.equal(plain, planned);
        assert.ok(waitMs >= planned * 0.8 && waitMs <= planned * 2.4);
        if (retryAfter === null) assert.ok(waitMs <= planned * 1.2);
      }),
    );
  });

  test('Retry-After decides a wait between the planned one and twice as long', () => {
    const waitOf = (retryAfter: string) => judgeAttempt(2, answered(503, retryAfter), schedule, now, () => 0.5).waitMs;
    assert.deepEqual(['119', '150', '240', '241'].map(waitOf), [120_000, 150_000, 240_000, 240_000]);
  });

  test('after the last attempt an event is exhausted, but for 410: it waits for its endpoint', () => {
    assert.equal(judgeAttempt(11, answered(500), schedule, now).state, 'exhausted');
    assert.equal(judgeAttempt(11, answered(410), schedule, now).state, 'waiting');
    assert.equal(judgeAttempt(11, answered(200), schedule, now).state, 'delivered');
  });

  test('Retry-After is read as seconds or as a date', () => {
    assert.equal(retryAfterMs('120', now), 120_000);
    assert.equal(retryAfterMs('Mon, 01 Jun 2026 12:01:00 GMT', now), 60_000);
    for (const header of [null, '', 'soon', '-5', 'Mon, 01 Jun 2020 12:01:00 GMT'])
      assert.equal(retryAfterMs(header, now), 0);
  });
});

describe('the health of an endpoint', () => {
  const healthy = { failures: 0, failing_since: null, last_success_at: null, disabled_reason: null };
  const failed = (failures: number) => ({ succeeded: false, failures, gone: false });

  test('ten failures in a row begin probing, at most 5 min apart; a success ends it', () => {
    assert.equal(judgeHealth(healthy, failed(9), schedule, now).probeWaitMs, null);
    assert.equal(judgeHealth(healthy, failed(10), schedule, now).probeWaitMs, 5000);
    assert.equal(judgeHealth({ ...healthy, failures: 30 }, failed(1), schedule, now).probeWaitMs, 300_000);
    const after = judgeHealth(
      { ...healthy, failures: 30 },
      { succeeded: true, failures: 0, gone: false },
      schedule,
      now,
    );
    assert.deepEqual([after.failures, after.probeWaitMs, after.failing_since], [0, null, null]);
  });

  const before = (ms: number) => new Date(now.getTime() - ms);
  const healthOf = (known: Partial<Health>, tally: Parameters<typeof judgeHealth>[1]) => {
    const { probeWaitMs: _, ...health } = judgeHealth({ ...healthy, ...known }, tally, schedule, now);
    return health;
  };

  test('the first failure says since when it fails, and later ones leave that', () => {
    assert.deepEqual(healthOf({}, failed(1)).failing_since, now);
    const since = before(hourMs);
    assert.deepEqual(healthOf({ failures: 1, failing_since: since }, failed(1)).failing_since, since);
  });

  test('a success among failures: it fails since now, and has succeeded now', () => {
    const known = { failures: 5, failing_since: before(200 * hourMs), last_success_at: before(201 * hourMs) };
    const expected = { failures: 2, failing_since: now, last_success_at: now, disabled_reason: null };
    assert.deepEqual(healthOf(known, { succeeded: true, failures: 2, gone: false }), expected);
  });

  test('failures leave the time of the last success', () => {
    const last = before(hourMs);
    assert.deepEqual(healthOf({ last_success_at: last }, failed(1)).last_success_at, last);
  });

  test('120 hours of failures disable it, and no moment less', () => {
    const reasonAfter = (ms: number) => healthOf({ failures: 9, failing_since: before(ms) }, failed(1)).disabled_reason;
    assert.equal(reasonAfter(120 * hourMs - 1), null);
    assert.equal(reasonAfter(120 * hourMs), 'no_success_for_120_hours');
  });

  test('410 disables it at once, and the first reason stays', () => {
    const gone = { succeeded: false, failures: 1, gone: true };
    assert.equal(healthOf({}, gone).disabled_reason, 'gone');
    const dead = { failures: 9, failing_since: before(121 * hourMs), disabled_reason: 'no_success_for_120_hours' };
    assert.equal(healthOf(dead, gone).disabled_reason, 'no_success_for_120_hours');
  });

  test('a success within a minute of the last one changes nothing', () => {
    const succeeded = { succeeded: true, failures: 0, gone: false };
    const known = { ...healthy, last_success_at: before(minuteMs - 1) };
    assert.equal(isUnchanged(known, succeeded, now), true);
    assert.equal(isUnchanged({ ...known, last_success_at: before(1 - minuteMs) }, succeeded, now), true);
    assert.equal(isUnchanged({ ...known, last_success_at: before(minuteMs) }, succeeded, now), false);
    assert.equal(isUnchanged(healthy, succeeded, now), false);
    assert.equal(isUnchanged({ ...known, failures: 1 }, succeeded, now), false);
    assert.equal(isUnchanged(known, { ...succeeded, failures: 1 }, now), false);
  });

  test('a pending secret is active after a day', () => {
    assert.equal(isActivated(null, now), false);
    assert.equal(isActivated(before(dayMs - 1), now), false);
    assert.equal(isActivated(before(dayMs), now), true);
  });

  test('a short schedule → probes wait no longer than its longest wait', () => {
    assert.equal(judgeHealth(healthy, failed(12), [0, 100, 200], now).probeWaitMs, 200);
    assert.equal(judgeHealth(healthy, failed(12), [0], now).probeWaitMs, 0);
  });
});
