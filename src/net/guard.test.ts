import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isPublic, mayConnect, urlFault } from './guard.ts';

const strict = { allowCidrs: [], plainHttp: false };

describe('outgoing addresses', () => {
  for (const [kind, addresses] of Object.entries({
    private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1'],
    loopback: ['127.0.0.1', '127.255.255.254', '::1'],
    unspecified: ['0.0.0.0', '0.1.2.3', '::'],
    'link-local': ['169.254.1.1', 'fe80::1', 'fec0::1'],
    metadata: ['169.254.169.254', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254', '168.63.129.16'],
    'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
    multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
    broadcast: ['255.255.255.255', '240.0.0.1'],
    'IPv4-mapped and -compatible': [
      '::ffff:127.0.0.1',
      '::ffff:8.8.8.8',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '::7f00:1',
      '::ffff:0:8.8.8.8',
    ],
    'not routed': ['4000::1', '8000::1', '100:0:0:1::1'],
    NAT64: ['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::1'],
    '6to4': ['2002:7f00:1::', '2002:808:808::1', '192.88.99.1'],
    Teredo: ['2001::1', '2001:0:53aa:64c::1'],
    'documentation and tests': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1', '3fff::1'],
  })) {
    test(`${kind} addresses are no place to send to`, () => {
      for (const address of addresses) {
        assert.equal(isPublic(address), false, address);
        assert.equal(mayConnect(strict, 'https:', address), false, address);
      }
    });
  }

  test('a public address → allowed over https; over http only if the policy allows it', () => {
    for (const address of ['8.8.8.8', '93.184.216.34', '2606:4700::1111', '2a00:1450::1']) {
      assert.equal(mayConnect(strict, 'https:', address), true, address);
      assert.equal(mayConnect(strict, 'http:', address), false, address);
      assert.equal(mayConnect({ allowCidrs: [], plainHttp: true }, 'http:', address), true, address);
    }
  });

  test('addresses in WEBHOOK_ALLOW_CIDRS → allowed, also over http; addresses beside them → refused', () => {
    const policy = { allowCidrs: ['10.1.0.0/16', 'fd00:1::/32'], plainHttp: false };
    for (const address of ['10.1.2.3', 'fd00:1::5']) assert.equal(mayConnect(policy, 'http:', address), true, address);
    for (const address of ['10.2.0.1', 'fd00:2::1', '::ffff:10.1.2.3']) {
      assert.equal(mayConnect(policy, 'https:', address), false, address);
    }
  });

  test('IP literals in decimal, octal, hexadecimal and short forms → recognised as private', () => {
    for (const host of [
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '0177.0.0.1',
      '127.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0',
    ]) {
      assert.match(urlFault(strict, `https://${host}/hook`)?.message ?? '', /may not send to/, host);
    }
    assert.match(urlFault(strict, 'https://0251.0376.0251.0376/')?.message ?? '', /169\.254\.169\.254/);
  });

  test('a URL that breaks a rule → that rule is named', () => {
    const broken = [
      ['http://example.com/', 'not_https'],
      ['http://8.8.8.8/', 'not_https'],
      ['ftp://example.com/', 'not_a_url'],
      ['hook', 'not_a_url'],
      ['file:///etc/passwd', 'not_a_url'],
      ['https://user:pw@example.com/', 'credentials'],
      ['https://user@example.com/', 'credentials'],
      ['https://:pw@example.com/', 'credentials'],
      [`https://example.com/${'x'.repeat(2048)}`, 'too_long'],
      ['https://10.0.0.1/', 'private'],
      ['http://10.0.0.1/', 'private'],
    ] as const;
    for (const [url, rule] of broken) assert.equal(urlFault(strict, url)?.rule, rule, url);
  });

  test('https, or http where the policy allows it → the URL may be used', () => {
    assert.equal(urlFault(strict, 'https://example.com/hook?a=b'), null);
    assert.equal(urlFault({ allowCidrs: [], plainHttp: true }, 'http://example.com/'), null);
    assert.equal(urlFault({ allowCidrs: ['10.0.0.0/8'], plainHttp: true }, 'http://10.1.2.3/'), null);
    const withNetwork = { allowCidrs: ['10.0.0.0/8'], plainHttp: false };
    assert.equal(urlFault(withNetwork, 'http://till.example/'), null, 'the name may lead to that network');
    assert.equal(urlFault(strict, `https://example.com/${'x'.repeat(2028)}`), null, '2048 characters');
  });
});
