import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeAbiParameters, keccak256, toHex } from 'viem';
import type { Hex } from '../../src/chain/rpc.ts';
import { type AuthorizedFixtures, authorizedFixtures } from '../support/payments/authorized-fixtures.ts';

let fixtures: AuthorizedFixtures;
before(async () => {
  fixtures = await authorizedFixtures();
});
after(() => fixtures?.stop());

/** Where the token keeps the balances of wallets. */
const balancesSlot = 9n;

/** Sets what a wallet holds, as if it had spent the rest. */
async function setHoldings(wallet: Hex, usdcMicro: bigint): Promise<void> {
  const place = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [wallet, balancesSlot]);
  await fixtures.rpc('anvil_setStorageAt', [fixtures.token.address, keccak256(place), toHex(usdcMicro, { size: 32 })]);
}

test('a wallet with money for one signs for twelve requests at once → five are sent, and no more until they are decided', async () => {
  // Enough for all until they are sent: a simulation sees what waits in the node already.
  const payer = await fixtures.payer();
  const pairs = [];
  for (let i = 0; i < 12; i++) {
    const request = await fixtures.request();
    pairs.push({ request, signed: await fixtures.sign(request, payer) });
  }
  await fixtures.rpc('evm_setAutomine', [false]);
  const outcomes = await Promise.all(pairs.map(({ request, signed }) => fixtures.submit(request, signed)));
  const kinds = outcomes.map(({ kind }) => kind).sort();
  assert.deepEqual(kinds, [...Array(5).fill('sent'), ...Array(7).fill('too_many_at_once')]);
  const own = pairs[outcomes.findIndex(({ kind }) => kind === 'sent')];
  assert.ok(own);
  assert.equal((await fixtures.submit(own.request, own.signed)).kind, 'sent', 'what is under way is told as before');
  await setHoldings(payer.address, 14_000_000n);
  await fixtures.rpc('evm_setAutomine', [true]);
  await fixtures.settle();
  assert.equal(await fixtures.sent(), 5);

  await fixtures.node.fund(payer.address, 100_000_000n);
  const late = pairs[outcomes.findIndex(({ kind }) => kind === 'too_many_at_once')];
  assert.ok(late);
  assert.equal((await fixtures.submit(late.request, late.signed)).kind, 'too_often', 'four have failed today');
});
