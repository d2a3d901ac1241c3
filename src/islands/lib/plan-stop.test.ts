import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signStop } from './plan-stop.ts';
import type { WalletProvider } from './wallets.ts';

const payer = `0x${'ab'.repeat(20)}`;
const wallet = (request: WalletProvider['request']) => ({
  info: { uuid: 'violet', name: 'Violet', icon: '', rdns: '' },
  provider: { request },
});

test('wallets that answer nonsense, or throw before they answer → the next one is asked', async () => {
  const answers = [null, undefined, 5, 'nonsense', {}, [null, 5]];
  const odd = [
    ...answers.map((answer) => wallet(async () => answer)),
    wallet(() => {
      throw new TypeError('locked');
    }),
  ];
  const order = { payer, chainId: 1, typed: '{}' };
  assert.deepEqual(await signStop(order, odd, assert.fail), { kind: 'signed', signature: '' });
  const able = wallet(async ({ method }) =>
    method === 'eth_accounts' ? [payer] : method === 'eth_chainId' ? '0x1' : '0x5',
  );
  assert.deepEqual(await signStop(order, [...odd, able], () => {}), { kind: 'signed', signature: '0x5' });
});
