import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AuthorizedFixtures, authorizedFixtures } from '../support/payments/authorized-fixtures.ts';

let fixtures: AuthorizedFixtures;
before(async () => {
  fixtures = await authorizedFixtures();
});
after(() => fixtures?.stop());

test('a wallet with money for one signs for twelve requests at once → five are sent, and no more until they are decided', async () => {
  const payer = await fixtures.payer(14_000_000n);
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
  await fixtures.rpc('evm_setAutomine', [true]);
  await fixtures.settle();
  assert.equal(await fixtures.sent(), 5);

  await fixtures.node.fund(payer.address, 100_000_000n);
  const late = pairs[outcomes.findIndex(({ kind }) => kind === 'too_many_at_once')];
  assert.ok(late);
  assert.equal((await fixtures.submit(late.request, late.signed)).kind, 'too_often', 'four have failed today');
});
