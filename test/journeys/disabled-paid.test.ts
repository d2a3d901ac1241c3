import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { setMerchantDisabled } from '../../src/merchants/disable.ts';
import { setPartnerDisabled } from '../../src/partners/settings.ts';
import { createDeliveryDeps } from '../../src/webhooks/deliver.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { deliverDue } from '../support/deliver-due.ts';
import { deliveryContext } from '../support/deliveries.ts';
import { type Receiver, startReceiver } from '../support/net/receiver.ts';
import { payFixtures } from '../support/payments/pay-fixtures.ts';

let fixtures: Awaited<ReturnType<typeof payFixtures>>;
let receiver: Receiver;
before(async () => {
  fixtures = await payFixtures();
  receiver = await startReceiver();
});
after(async () => {
  await receiver?.close();
  await fixtures?.stop();
});

test('a partner and its merchant are disabled → earlier requests are still verified, and their events delivered', async () => {
  const { ctx, scope, merchant, db } = fixtures;
  const { ctx: sending } = deliveryContext(db);
  await setUrl(sending, theService, scope, receiver.url);
  const request = await fixtures.request();
  const [partner] = await db.sql<{ slug: string }[]>`select slug from partners where id = ${scope.partnerId}`;
  await setMerchantDisabled(ctx, theService, scope, { accountId: merchant.id, by: 'partner', disabled: true });
  await setMerchantDisabled(ctx, theService, scope, { accountId: merchant.id, by: 'operator', disabled: true });
  await setPartnerDisabled(ctx, theService, partner?.slug ?? '', true);
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  const deps = createDeliveryDeps(sending);
  try {
    assert.equal(await deliverDue(sending, deps), 1);
  } finally {
    await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
  }
  const [event, ...more] = receiver.received;
  assert.deepEqual([JSON.parse(event?.body ?? '').request_id, more], [request.id, []]);
});
