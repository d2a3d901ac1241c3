import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pollAfterMs } from './open-pages.ts';

test('more and more open pages → together they poll 40 times a second at most; a few are not slowed down', () => {
  for (const pages of [200, 600, 10_000]) assert.equal((1000 * pages) / pollAfterMs(pages), 40);
  assert.ok(pollAfterMs(100) < 5_000);
});
