import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../config.ts';
import type { PostOutcome } from '../net/post.ts';
import { judgeAttempt, judgeHealth, retryAfterMs } from './rules.ts';

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
      fc.property(fc.integer({ min: 200, max: 599 }), (status) => {
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

  test('a short schedule → probes wait no longer than its longest wait', () => {
    assert.equal(judgeHealth(healthy, failed(12), [0, 100, 200], now).probeWaitMs, 200);
    assert.equal(judgeHealth(healthy, failed(12), [0], now).probeWaitMs, 0);
  });
});
