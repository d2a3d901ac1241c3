import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOut } from './output.ts';

test('a list of values inside an object → one line, an empty one a dash', () => {
  const partner = { slug: 'tills', allowed_expiry_minutes: [5, 60], hosts: [] };
  assert.equal(
    layOut({ partner }),
    `partner
  slug                   tills
  allowed_expiry_minutes 5, 60
  hosts                  –
`,
  );
});

test('a list of values → a line each, without a heading', () => {
  assert.equal(layOut({ replayed: ['a1', 'b2'], failed: [] }), 'replayed\n  a1\n  b2\nfailed\n  (none)\n');
});

test('a list of objects → a table without the columns left out', () => {
  const keys = [
    { key_id: 'a', name: null, secret: 'x' },
    { key_id: 'bcd', name: 'Till', secret: 'y' },
  ];
  assert.equal(
    layOut({ keys }, ['secret']),
    `keys
  key_id  name
  a       –
  bcd     Till
`,
  );
});
