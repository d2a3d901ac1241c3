import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailboxOf } from './email.ts';

test('Spellings of one address lead to one mailbox, and addresses of others to theirs', () => {
  const same = ['ada.king@example.org', 'Ada.King@Example.ORG', 'adaking+a@example.org', 'a.da.king+@example.org.'];
  assert.deepEqual([...new Set(same.map(mailboxOf))], ['adaking@example.org']);
  const named = ['ada@bücher.example', 'ada@xn--bcher-kva.example', 'ada@BÜCHER。example'];
  assert.equal(new Set(named.map(mailboxOf)).size, 1);
  const unseen = ['ada\u00adking@example.org', 'ada\u200bking\u2060+a@example.org', 'adaking\ufe0f@example.org..'];
  assert.deepEqual([...new Set(unseen.map(mailboxOf))], ['adaking@example.org']);
  const others = ['ada@example.org', 'adaking@example.com', 'king@example.org', '+ada@example.org'];
  assert.equal(new Set([...others, ...same].map(mailboxOf)).size, 5);
});
