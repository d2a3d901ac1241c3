import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modes } from '../lib/mode.ts';
import { isRole, may, type Permission, permissions, type Role, roles } from './roles.ts';

/** The roles that have each permission in test mode and in live mode, without the helpers of `roles.ts`. */
const expected: Record<Permission, [test: Role[], live: Role[]]> = {
  read: [
    ['owner', 'developer', 'viewer'],
    ['owner', 'developer', 'viewer'],
  ],
  'requests.cancel': [['owner', 'developer'], ['owner']],
  'payments.test': [
    ['owner', 'developer'],
    ['owner', 'developer'],
  ],
  'keys.read': [
    ['owner', 'developer'],
    ['owner', 'developer'],
  ],
  keys: [['owner', 'developer'], ['owner']],
  webhooks: [['owner', 'developer'], ['owner']],
  'deliveries.replay': [
    ['owner', 'developer'],
    ['owner', 'developer'],
  ],
  team: [['owner'], ['owner']],
  settings: [['owner'], ['owner']],
  'merchants.invite': [['owner', 'developer'], ['owner']],
  'merchants.disable': [['owner'], ['owner']],
  'merchants.reset': [['owner'], ['owner']],
  'merchants.recover': [['owner'], ['owner']],
};
const names = Object.keys(expected) as Permission[];
const cases = roles.flatMap((role) =>
  names.flatMap((name) =>
    modes.map((mode, i) => ({ role, name, mode, has: expected[name][i]?.includes(role) === true })),
  ),
);

test('Every role may do exactly what its table says, in each mode', () => {
  assert.deepEqual(modes, ['test', 'live']);
  assert.deepEqual(Object.keys(permissions).sort(), [...names].sort());
  for (const { role, name, mode, has } of cases)
    assert.equal(may({ role, partner: { disabled: false } }, name, mode), has, `${role} ${name} ${mode}`);
});

test('While the partner is disabled, every role can only read', () => {
  for (const { role, name, mode } of cases)
    assert.equal(may({ role, partner: { disabled: true } }, name, mode), name === 'read', `${role} ${name} ${mode}`);
});

test('any other name → not a role', () => {
  assert.deepEqual(['owner', 'developer', 'viewer', 'operator', 'Owner', '', null].filter(isRole), [...roles]);
});
