import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { checksum62, randomBase62 } from '../lib/text/base62.ts';
import { contentOf, detailsJson, type Entry, hashOf, noHash } from './rules.ts';

test('details of an audit entry › leave out keys, signing secrets and tokens, at any depth and under any name', () => {
  for (let i = 0; i < 200; i++) {
    const body = `qt_${i % 2 ? 'test' : 'live'}_${randomBase62(32)}`;
    const secrets = [
      body + checksum62(body),
      `whsec_${randomBytes(32).toString('base64')}`,
      randomBytes(32).toString('base64url'),
      randomBytes(32).toString('hex'),
    ];
    for (const secret of secrets) {
      const json = detailsJson({ note: `It is ${secret}.`, list: ['fine', secret], nested: { secret } });
      assert.ok(!json.includes(secret), json);
      assert.match(json, /It is \[left out\]/);
    }
  }
});

test('details of an audit entry › keep what people need to understand the action', () => {
  const details = {
    email: 'ada.lovelace@example.com',
    rate: '0.92',
    host: 'hooks.example.com:8443',
    since: '2026-11-21T08:00:00.000Z',
    id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
    wallet: `0x${'ab'.repeat(20)}`,
    transaction: `0x${'0f'.repeat(32)}`,
    scopes: ['requests:write', 'accounts:read'],
    deliveries: 3,
    logo: true,
  };
  assert.deepEqual(JSON.parse(detailsJson(details)), details);
});

test('the hash of an audit entry › depends on every field, on the entry’s number and on the hash before it', () => {
  const entry: Entry = {
    partner_id: '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69',
    at: new Date('2026-11-21T08:00:00.000Z'),
    test_mode: true,
    actor_kind: 'operator',
    actor_id: null,
    actor_name: 'a',
    action: 'b',
    object_kind: 'c',
    object_id: 'd',
    ip: null,
    user_agent: null,
    details: '{}',
  };
  const changes: Partial<Entry>[] = [
    {},
    { partner_id: '00000000-0000-0000-0000-000000000000' },
    { at: new Date('2026-11-21T08:00:00.001Z') },
    { test_mode: null },
    { actor_kind: 'x' },
    { actor_id: '' },
    { actor_name: 'ab', action: '' }, // the boundary between two fields counts
    { action: 'x' },
    { object_kind: 'x' },
    { object_id: 'x' },
    { ip: '' },
    { user_agent: '' },
    { details: '{ }' },
  ];
  const hashes = changes.map((change) => hashOf(noHash, 1n, { ...entry, ...change }).toString('hex'));
  hashes.push(hashOf(noHash, 2n, entry).toString('hex'), hashOf(Buffer.alloc(32, 1), 1n, entry).toString('hex'));
  assert.equal(new Set(hashes).size, changes.length + 2);
  assert.equal(JSON.parse(contentOf(entry)).length, Object.keys(entry).length, 'every field is in the content');
});
