import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const detail = (id: string) => fixtures.visitor.open(`/dashboard/payments/${id}`);
const cancelled = async (id: string) =>
  (await fixtures.audit()).filter(({ action, object_id }) => action === 'request.cancelled' && object_id === id);

test('A merchant cancels its request from the detail page: asked first, audited, and the pay page says so', async () => {
  const row = await fixtures.request({ memo: 'Wrong amount' });
  const page = await detail(row.id);
  assert.match(page.html, /Cancel the €12\.50 request\?/);
  assert.match(page.html, /will tell your customer not to pay. This cannot be undone/);
  const done = await fixtures.visitor.send(page, '/cancel');
  assert.match(done.html, /The request is cancelled\./);
  assert.equal((await fixtures.read(row)).status, 'voided');
  assert.ok(!done.html.includes('/cancel"'), 'once is enough');
  assert.deepEqual(
    (await cancelled(row.id)).map(({ actor_kind, actor_name }) => [actor_kind, actor_name]),
    [['merchant', fixtures.merchant.wallet]],
  );
  assert.match((await fixtures.visitor.open(`/pay/${row.id}`)).html, /This request was cancelled/);

  const again = await fixtures.visitor.send(page, '/cancel');
  assert.match(again.html, /It was not cancelled, and no money was moved\. It was already cancelled\./);
  assert.equal((await cancelled(row.id)).length, 1);
});

test('A request that cannot be cancelled says why: opened, payment arrived, paid, or ended', async () => {
  const row = await fixtures.request();
  const asked = await detail(row.id);
  await fixtures.visitor.open(`/pay/${row.id}`);
  const opened = await detail(row.id);
  assert.match(
    opened.html,
    /This request can no longer be cancelled\. Your customer has opened it\. It ends by itself/,
  );
  assert.ok(!opened.html.includes('/cancel"'));
  const refused = await fixtures.visitor.send(asked, '/cancel');
  assert.match(refused.html, /It was not cancelled, and no money was moved\. Your customer has opened it/);

  const late = await fixtures.request();
  const before = await detail(late.id);
  await fixtures.db.sql`update requests set expires_at = now() - interval '1 minute' where id = ${late.id}`;
  assert.match((await fixtures.visitor.send(before, '/cancel')).html, /It has already expired/);
  assert.deepEqual([...(await cancelled(row.id)), ...(await cancelled(late.id))], []);
  assert.ok(!(await fixtures.visitor.open(`/dashboard/payments/${row.id}`)).html.includes('It was not cancelled'));
});

test('a payment arrives before the cancel → not cancelled, and the page says why', async () => {
  const row = await fixtures.request();
  const page = await detail(row.id);
  await fixtures.pay(row);
  await fixtures.turn();
  const refused = await fixtures.visitor.send(page, '/cancel');
  assert.match(refused.html, /no money was moved\. A payment has arrived and is being confirmed\./);
  assert.match(refused.html, /This request can no longer be cancelled\. A payment has arrived/);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.match((await fixtures.visitor.send(page, '/cancel')).html, /no money was moved\. It has been paid\./);
  assert.equal((await fixtures.read(row)).proof_status, 'verified');
});

test('A cancel and a payment at once: one of them counts, and the page says which', async () => {
  for (let round = 0; round < 5; round++) {
    const row = await fixtures.request({ exactMicro: BigInt(3_000_000 + round * 100_000) });
    const page = await detail(row.id);
    await fixtures.pay(row);
    const [answer] = await Promise.all([fixtures.visitor.send(page, '/cancel'), fixtures.turn()]);
    await fixtures.turn();
    const now = await fixtures.read(row);
    const told = /The request is cancelled/.test(answer.html) ? 'voided' : 'paid';
    assert.equal(answer.status, 200);
    assert.equal(now.status === 'voided', told === 'voided');
    assert.equal(now.proof_status === 'none', told === 'voided');
    assert.equal((await cancelled(row.id)).length, told === 'voided' ? 1 : 0);
    if (told === 'voided') assert.match((await detail(row.id)).html, /arrived but does not count/);
  }
});

test('A partial payment is named before the cancel, and is an unmatched payment after it', async () => {
  const row = await fixtures.request({ exactMicro: 9_000_000n });
  await fixtures.pay(row, { usdcMicro: 2_000_000n });
  await fixtures.turn();
  const page = await detail(row.id);
  assert.match(page.html, /The 2\.00 USDC already received moves to “Unmatched”/);
  const done = await fixtures.visitor.send(page, '/cancel');
  assert.match(done.html, /2\.00 USDC arrived but does not count/);
  assert.match((await fixtures.visitor.open('/dashboard/unmatched')).html, /2\.00 USDC<\/a>/);
});

test('cancelling a request of another merchant, partner or mode → 404', async () => {
  const row = await fixtures.request();
  const page = await detail(row.id);
  const foreign = await makePartner(fixtures.db);
  for (const scope of [fixtures.scope, foreign.test, foreign.live]) {
    const other = await fixtures.signedIn(scope, await makeMerchant(fixtures.db, scope));
    assert.equal((await other.send(page, '/cancel')).status, 404);
  }
  assert.equal((await fixtures.read(row)).status, 'requested');
});
