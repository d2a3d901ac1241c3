import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readProgress } from '../../src/payments/proof/progress.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

/** A payment as an exchange sends it: it names no request, and its fee is taken from the amount. */
async function withdraw(usdcMicro: bigint): Promise<string> {
  const txHash = await fixtures.node.pay({ from: fixtures.node.wallet(), to: fixtures.merchant.wallet, usdcMicro });
  await fixtures.node.mine(3);
  await fixtures.turn();
  return `31337_${txHash}_0`;
}

const askedOf = async (request: RequestRow) => (await readProgress(fixtures.ctx, fixtures.scope, request.id)).asked;

test('a payment below a request’s amount is shown on the request, attached as a part, and the rest pays it by its amount', async () => {
  const request = await fixtures.request({ exactMicro: 12_500_000n, memo: 'Short' });
  const dear = await fixtures.request({ exactMicro: 900_000_000n, memo: 'Dear' });
  const key = await withdraw(12_000_000n);
  const detail = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(detail.html, /12\.00 USDC arrived unmatched; 12\.50 was due here/);
  assert.match(detail.html, /It may be meant for this request: ask your customer/);
  assert.ok(detail.html.includes(`/dashboard/unmatched/${key}`));
  const other = await fixtures.visitor.open(`/dashboard/payments/${dear.id}`);
  assert.ok(!other.html.includes(key));

  const page = await fixtures.visitor.open(`/dashboard/unmatched/${key}`);
  assert.match(page.html, /Ask for 0\.50 USDC[\s\S]*Ask for 888\.00 USDC/);
  const done = await fixtures.visitor.send(page, '/rest', { request: request.id });
  assert.match(done.html, /The payment was attached\. The request’s page now asks for the rest\./);
  const [bound] = await fixtures.db.sql`select request_id, rule from transfers where request_id is not null`;
  assert.deepEqual({ ...bound }, { request_id: request.id, rule: 'merchant' });
  assert.deepEqual(await askedOf(request), { micro: 500_000n, isRest: true, isReserved: true });
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  const acts = (await fixtures.audit()).filter(({ action }) => action === 'payment.attached');
  assert.deepEqual(
    acts.map(({ object_id, details }) => [object_id, JSON.parse(details)]),
    [[key, { request: request.id }]],
  );

  await withdraw(500_000n);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal((await fixtures.events(request)).length, 1);
});

test('it suffices for one, others have ended → only open requests that need more accept it as a part; a second time is refused', async () => {
  const small = await fixtures.request({ exactMicro: 20_000_000n });
  const expired = await fixtures.request({ exactMicro: 31_000_000n });
  const open = await fixtures.request({ exactMicro: 32_000_000n });
  const key = await withdraw(30_000_123n);
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${expired.id}`;
  const page = await fixtures.visitor.open(`/dashboard/unmatched/${key}`);
  const [full = '', part = ''] = page.html.split('Ask for the rest</h2>');
  assert.ok(full.includes(small.id) && !full.includes(open.id));
  assert.ok(part.includes(open.id) && !part.includes(small.id) && !part.includes(expired.id));
  const late = await fixtures.visitor.send(page, '/rest', { request: expired.id });
  assert.equal(late.status, 409);
  assert.match(late.html, /The request no longer accepts this payment\. Nothing was changed\./);
  const full409 = await fixtures.visitor.send(page, '/attach', { request: open.id });
  assert.equal(full409.status, 409);
  await fixtures.visitor.send(page, '/rest', { request: open.id });
  assert.deepEqual(await askedOf(open), { micro: 1_999_877n, isRest: true, isReserved: true });
  const twice = await fixtures.visitor.send(page, '/rest', { request: small.id });
  assert.match(twice.html, /used or refunded in the meantime|Page not found/);
  assert.equal((await fixtures.read(small)).proof_status, 'none');
});
