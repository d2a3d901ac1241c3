import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { resetOnboarding } from '../../src/onboarding/reset.ts';
import { onboardWithKey } from '../../src/sandbox/onboard.ts';
import { makePartner, makeRequest } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: PayFixtures;
before(async () => {
  fixtures = await payFixtures();
});
after(() => fixtures?.stop());

test('a wallet goes to another partner’s merchant, which has made no request yet → a payment there is that one’s', async () => {
  const { ctx, db, node, scope } = fixtures;
  const key = generatePrivateKey();
  const wallet = privateKeyToAccount(key).address.toLowerCase();
  const theirs = (await makePartner(db)).test;
  const [former, later] = await Promise.all(
    [scope, theirs].map((of) => createShell(ctx, theService, of, { display_currency: 'EUR' })),
  );
  assert.ok(former && later);
  await onboardWithKey(ctx, former.id, key);
  await makeRequest(db, scope, { id: former.id, wallet });
  assert.ok(await resetOnboarding(ctx, theService, scope, former.id));
  await onboardWithKey(ctx, later.id, key);

  const txHash = await node.pay({ from: node.wallet(), to: wallet, usdcMicro: 3_000_000n });
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.account_id, later.id);
  await onboardWithKey(ctx, former.id, generatePrivateKey());
  assert.ok(await resetOnboarding(ctx, theService, scope, former.id), 'it has received nothing');
});

test('a wallet goes from one partner’s merchant to another’s and back → a payment there is the first one’s again', async () => {
  const { ctx, db } = fixtures;
  const key = generatePrivateKey();
  const wallet = privateKeyToAccount(key).address.toLowerCase();
  const newMerchant = async (scope: Scope) => {
    const { id } = await createShell(ctx, theService, scope, { display_currency: 'EUR' });
    return {
      request: async () => {
        await onboardWithKey(ctx, id, key);
        return makeRequest(db, scope, { id, wallet });
      },
      reset: async () => assert.ok(await resetOnboarding(ctx, theService, scope, id)),
    };
  };
  const first = await newMerchant(fixtures.scope);
  const second = await newMerchant((await makePartner(db)).test);
  await first.request();
  await first.reset();
  await second.request();
  await second.reset();
  const request = await first.request();

  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  assert.equal((await fixtures.transfer(txHash))?.account_id, request.account_id);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
});
