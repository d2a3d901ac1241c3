import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLastOwner } from './rules.ts';

const owner = (id: string, disabled_at: Date | null = null) => ({ id, role: 'owner', disabled_at });

test('the last owner → the only one who can sign in: disabled owners and other roles do not count', () => {
  const developer = { ...owner('d'), role: 'developer' };
  assert.equal(isLastOwner([owner('a'), owner('b', new Date(0)), developer], 'a'), true);
  assert.equal(isLastOwner([owner('a'), owner('b')], 'a'), false);
  assert.equal(isLastOwner([owner('a'), owner('b', new Date(0)), developer], 'b'), false);
  assert.equal(isLastOwner([owner('a'), developer], 'd'), false);
});
