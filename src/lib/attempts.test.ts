import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttemptLimit, clientSubject, networkSubject } from './attempts.ts';

test('A client is an IPv4 address or a /64, however its address is written', () => {
  assert.equal(clientSubject('192.0.2.7'), '192.0.2.7');
  const same = ['2001:db8::1', '2001:db8:0:0:1::', '2001:db8:0:0:1:2:3:4', '2001:DB8:0::9%eth0'];
  assert.deepEqual([...new Set(same.map(clientSubject))], ['2001:db8:0:0::/64']);
  assert.equal(clientSubject('2001:db8:a:b:1::'), '2001:db8:a:b::/64');
  assert.equal(clientSubject('::1'), '0:0:0:0::/64');
  assert.notEqual(clientSubject('2001::5:6:7:8:9'), clientSubject('2001::6:6:7:8:9'), 'neighbours are others');
});

test('A network is a /24 or a /48, however its address is written', () => {
  assert.equal(networkSubject('192.0.2.7'), '192.0.2.0/24');
  assert.equal(networkSubject('::ffff:192.0.2.7'), '192.0.2.0/24');
  const same = ['2001:db8::1', '2001:db8:0:7::1', '2001:db8:0:0:1::'];
  assert.deepEqual([...new Set(same.map(networkSubject))], ['2001:db8:0::/48']);
  assert.notEqual(networkSubject('2001:db8::1'), networkSubject('2001:db8:1::1'));
});

test('A limit counts each subject by itself, begins anew with its window, and keeps so many subjects at most', () => {
  const limit = new AttemptLimit(2, 60_000, 2);
  const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, second));
  assert.deepEqual(
    ['a', 'a', 'a', 'b', 'c'].map((subject) => limit.take(subject, at(0))),
    [true, true, false, true, false],
  );
  assert.equal(limit.take('a', at(60)), true);
});
