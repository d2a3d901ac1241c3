import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRole, may, type Permission, permissions, type Role, roles } from './roles.ts';

/** Written out anew: each permission with everybody who has it. */
const expected: Record<Permission, Role[]> = {
  read: ['owner', 'developer', 'viewer'],
  'requests.cancel': ['owner', 'developer'],
  'payments.test': ['owner', 'developer'],
  'keys.test': ['owner', 'developer'],
  'keys.live': ['owner'],
  webhooks: ['owner', 'developer'],
  'deliveries.replay': ['owner', 'developer'],
  team: ['owner'],
  settings: ['owner'],
  'merchants.invite': ['owner', 'developer'],
  'merchants.disable': ['owner'],
  'merchants.reset': ['owner'],
  'merchants.recover': ['owner'],
};
const names = Object.keys(expected) as Permission[];

test('Every role may do exactly what its table says', () => {
  assert.deepEqual(Object.keys(permissions).sort(), [...names].sort());
  for (const role of roles)
    for (const name of names)
      assert.equal(may({ role, partner: { disabled: false } }, name), expected[name].includes(role), `${role} ${name}`);
});

test('While the partner is switched off, every role only reads', () => {
  for (const role of roles)
    for (const name of names)
      assert.equal(may({ role, partner: { disabled: true } }, name), name === 'read', `${role} ${name}`);
});

test('Only the three roles are roles', () => {
  assert.deepEqual(['owner', 'developer', 'viewer', 'operator', 'Owner', '', null].filter(isRole), [...roles]);
});
