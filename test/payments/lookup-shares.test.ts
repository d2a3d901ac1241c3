import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let f: PayFixtures;
let endpoint: Awaited<ReturnType<typeof fakeProvider>>;
before(async () => {
  f = await payFixtures([], async (target) => {
    endpoint = await fakeProvider(target);
    return [endpoint.url];
  });
});
after(async () => {
  await f?.stop();
  await endpoint?.stop();
});

const unknown = () => `0x${randomBytes(32).toString('hex')}`;
/** It stands still: all look-ups are in the same ten seconds, however slow the machine is. */
let now = new Date();
const kindOf = async ({ id }: { id: string }, txHash = unknown()) =>
  (await submitHash({ ...f.ctx, clock: { now: () => now } }, id, { txHash })).kind;

test('very many unknown transactions are submitted for one merchant → endpoints are spared, those of its partner’s other merchants and of others are looked up', async () => {
  const request = await f.request();
  const { test: scope } = await makePartner(f.db);
  const neighbours = await makeRequest(f.db, f.scope, await makeMerchant(f.db, f.scope));
  const others = await makeRequest(f.db, scope, await makeMerchant(f.db, scope));
  const { txHash } = await f.pay(request);
  await f.caughtUp();
  const before = endpoint.fake.calls.get('eth_getTransactionReceipt') ?? 0;
  const kinds = await Promise.all(Array.from({ length: 150 }, () => kindOf(request)));
  const counts = Object.entries(Object.groupBy(kinds, (kind) => kind)).map(([kind, all]) => [kind, all?.length]);
  assert.deepEqual(Object.fromEntries(counts), { not_found: 50, unavailable: 100 });
  assert.ok((endpoint.fake.calls.get('eth_getTransactionReceipt') ?? 0) - before <= 50);
  assert.equal(await kindOf(neighbours), 'not_found');
  assert.equal(await kindOf(others), 'not_found');
  assert.equal(await kindOf(request, txHash), 'seen', 'what is stored needs no endpoint');
  now = new Date(now.getTime() + 10_000);
  assert.equal(await kindOf(request), 'not_found');
});

test('three partners have very many unknown transactions submitted → a fourth one’s are still looked up', async () => {
  now = new Date(now.getTime() + 10_000);
  const before = endpoint.fake.calls.get('eth_getTransactionReceipt') ?? 0;
  for (let partner = 0; partner < 3; partner++) {
    const { test: scope } = await makePartner(f.db);
    for (let shop = 0; shop < 2; shop++) {
      const request = await makeRequest(f.db, scope, await makeMerchant(f.db, scope));
      await Promise.all(Array.from({ length: 60 }, () => kindOf(request)));
    }
  }
  const { test: scope } = await makePartner(f.db);
  assert.equal(await kindOf(await makeRequest(f.db, scope, await makeMerchant(f.db, scope))), 'not_found');
  assert.ok((endpoint.fake.calls.get('eth_getTransactionReceipt') ?? 0) - before <= 300);
});
