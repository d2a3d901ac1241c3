import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultExpiryMinutes, expiryMinutes, partnerFaults, partnerNameRule } from './rules.ts';

const named = (name: string) => ({
  slug: 'tills',
  name,
  currency: 'EUR',
  allowedExpiryMinutes: [...expiryMinutes],
  defaultExpiryMinutes,
  email: null,
});

test('a partner’s name that shows nothing, or is too long → refused', () => {
  for (const name of ['', ' ', '\u200b\u2060', '\u3164', '\u2800', '\u202e', 'x'.repeat(121)])
    assert.deepEqual(partnerFaults(named(name)), [partnerNameRule], JSON.stringify(name));
});

test('a name of 120 characters, in any script → accepted', () => {
  for (const name of ['Tills', '株', '\u200bمقهى', '😀'.repeat(120)]) assert.deepEqual(partnerFaults(named(name)), []);
});
