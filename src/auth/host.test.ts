import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testConfig } from '../../test/support/app.ts';
import { hostOwner } from './host.ts';

test('the base host and addresses are shared, one name below it is a partner’s; localhost is a sandbox’s only', () => {
  const ownersWith = (sandbox: boolean) => {
    const config = testConfig({ sandbox, baseUrl: 'https://pay.example' });
    const hosts = [
      'pay.example',
      'PAY.example:8080',
      '192.0.2.1',
      '[2001:db8::1]:80',
      'shop.pay.example',
      'a.b.pay.example',
    ];
    return [...hosts, 'localhost:3000', 'shop.localhost', 'example', '', undefined].map((host) =>
      hostOwner(config, host),
    );
  };
  const [unknown, own] = [undefined, [null, null, null, null, 'shop', undefined]];
  assert.deepEqual(ownersWith(true), [...own, null, 'shop', unknown, unknown, unknown]);
  assert.deepEqual(ownersWith(false), [...own, unknown, unknown, unknown, unknown, unknown]);
});
