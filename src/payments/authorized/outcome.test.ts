import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf } from './outcome.ts';
import type { SubmittedAuthorizationRow } from './outcome-store.ts';

const now = new Date('2026-03-01T12:00:00Z');
const [ours, theirs] = [`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`] as const;
const row: SubmittedAuthorizationRow = {
  valid_before: new Date(now.getTime() + 60_000),
  value: '13586957',
  relay_state: 'sent',
  hash: ours,
  succeeded: null,
  read_until: now,
  transfer_hash: null,
};
const stateOf = (change: Partial<SubmittedAuthorizationRow>) => outcomeOf({ ...row, ...change }, now).state;

test('an authorization whose call is not mined yet → sent, until its validity has been over for two minutes', () => {
  assert.deepEqual(outcomeOf(row, now), { state: 'sent', hash: ours, valueMicro: 13_586_957n });
  assert.equal(stateOf({ relay_state: 'allotted', hash: null }), 'sent');
  assert.equal(stateOf({ relay_state: 'mined', succeeded: null }), 'sent');
  assert.equal(stateOf({ relay_state: 'mined', succeeded: true }), 'mined');
  assert.equal(stateOf({ relay_state: 'final', succeeded: true }), 'mined');
  assert.equal(stateOf({ valid_before: new Date(now.getTime() - 119_000) }), 'sent');
  assert.equal(stateOf({ valid_before: new Date(now.getTime() - 121_000) }), 'failed');
});

test('an authorization whose call failed or was lost → failed; if somebody else executed it → mined, by their transaction', () => {
  for (const failed of [
    { relay_state: 'mined', succeeded: false },
    { relay_state: 'reverted', succeeded: false },
    { relay_state: 'lost' },
    { relay_state: null, hash: null },
  ] as Partial<SubmittedAuthorizationRow>[]) {
    assert.equal(stateOf(failed), 'failed', JSON.stringify(failed));
    assert.deepEqual(outcomeOf({ ...row, ...failed, transfer_hash: theirs }, now), {
      state: 'mined',
      hash: theirs,
      valueMicro: 13_586_957n,
    });
  }
});
