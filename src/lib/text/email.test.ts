import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneAddress, mailboxOf } from './email.ts';

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

test('One address is taken; a list, a name beside it, a line break, and more than 254 characters are not', () => {
  const longest = `${'a'.repeat(242)}@example.org`;
  for (const one of ['ada@example.org', "o'neil+a@example.org", 'ada@bücher.example', longest]) {
    assert.ok(isOneAddress(one), one);
  }
  const others = ['', 'ada', '@example.org', 'ada@', 'ada@b@example.org', 'a@example.org,b@example.org', `a${longest}`];
  const written = [
    'Ada <ada@example.org>',
    'ada@example.org\r\nBcc: b@example.org',
    '"ada"@example.org',
    'ada(x)@example.org',
  ];
  const routes = ['ada@[127.0.0.1]', 'ada@example.org:25', 'group:ada@example.org;', 'a\\da@example.org'];
  for (const text of [...others, ...written, ...routes]) assert.ok(!isOneAddress(text), text);
});
