import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inNetworks, namesThisMachine, withoutPort } from './networks.ts';

test('a network holds its addresses, IPv4 in either form, and nothing that is no address', () => {
  const isInside = inNetworks(['10.0.0.0/8', 'fd00::/8', '192.0.2.7/32']);
  for (const address of ['10.255.0.1', '::ffff:10.1.2.3', 'fd12::1', '192.0.2.7'])
    assert.ok(isInside(address), address);
  for (const address of [
    '11.0.0.1',
    '::ffff:11.0.0.1',
    'fe80::1',
    'fe80::1%eth0',
    '192.0.2.8',
    '',
    'localhost',
    '10.1',
  ]) {
    assert.equal(isInside(address), false, address);
  }
  assert.equal(isInside(undefined), false);
});

test('this machine is localhost, what lies below it, and loopback addresses; names that only begin so are not', () => {
  const own = [
    'localhost',
    'LOCALHOST',
    'demo.localhost',
    '127.0.0.1',
    '127.9.9.9',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
  ];
  for (const host of own) assert.ok(namesThisMachine(host), host);
  const others = [
    '0.0.0.0',
    '::',
    '',
    '10.0.0.1',
    'localhost.example',
    '127.evil.example',
    'evil-localhost',
    '.localhost',
  ];
  for (const host of others) assert.equal(namesThisMachine(host), false, host);
});

test('a port is cut off an address, and nothing else', () => {
  assert.equal(withoutPort('192.0.2.7:4711'), '192.0.2.7');
  assert.equal(withoutPort('[2001:DB8::7]:4711'), '2001:DB8::7');
  assert.equal(withoutPort('[::ffff:192.0.2.7]'), '::ffff:192.0.2.7');
  for (const text of ['192.0.2.7', '2001:db8::7', '2001:db8::4711', 'unknown', 'host:80', '192.0.2.7:', '[]:1', '']) {
    assert.equal(withoutPort(text), text);
  }
});
