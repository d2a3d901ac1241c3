import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '../lib/durations.ts';
import { postLimits } from './limits.ts';

const now = new Date('2026-01-01T00:00:00Z');

test('a network that posts from many addresses → ten clients’ worth for all requests together', () => {
  const limits = postLimits({ perClient: 60, perClientAndRequest: 10, perRequest: 100 }, minuteMs);
  let posted = 0;
  for (let client = 1; client <= 100; client++) {
    for (let post = 0; post < 60; post++) if (limits.ofClient(`2001:db8:1:${client.toString(16)}::1`, now)) posted++;
  }
  assert.equal(posted, 600);
  assert.equal(limits.ofClient('2001:db8:2::1', now), true);
});
