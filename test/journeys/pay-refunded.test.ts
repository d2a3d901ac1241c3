import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from '../../src/chain/rpc.ts';
import { followRefunds } from '../../src/refunds/follow.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import { startVisitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const nameOf = (txHash: string) => `31337_${txHash}_0`;
/** What the customer sees, without a session. */
const payPage = async ({ id }: RequestRow) => (await startVisitor(fixtures.url).open(`/pay/${id}`)).html;

async function final(): Promise<void> {
  await fixtures.node.mine(3);
  await fixtures.turn();
}

/** The merchant's wallet sends a refund, and the dashboard records it. */
async function refund(txHash: string, to: string, usdcMicro: bigint): Promise<void> {
  const { privateKey, wallet } = fixtures.merchant;
  const page = await openRefund(fixtures.visitor, nameOf(txHash));
  const hash = await fixtures.node.pay({ from: { privateKey, address: wallet as Hex }, to, usdcMicro });
  await fixtures.caughtUp();
  await fixtures.visitor.send(page, nameOf(txHash), { return_tx_hash: hash });
}

async function follow(): Promise<void> {
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await fixtures.db.sql`update returns set next_look_at = now()`;
  await followRefunds(fixtures.ctx);
}

test('The customer who overpaid is told to ask for a refund until it is sent, then that it is on its way, and that it arrived', async () => {
  const request = await fixtures.request({ exactMicro: 5_000_000n });
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  await final();
  assert.match(await payPage(request), /You overpaid by 2\.00 USDC\. Ask Ada’s Bakery for a refund\./);

  await refund(txHash, from.address, 2_000_000n);
  const sent = await payPage(request);
  assert.match(sent, /Ada’s Bakery sent 2\.00 USDC back\. The network is still confirming it\./);
  assert.doesNotMatch(sent, /Ask Ada’s Bakery/);
  assert.match(sent, /There is nothing left to do\./);

  await follow();
  const arrived = await payPage(request);
  assert.match(arrived, /Ada’s Bakery refunded 2\.00 USDC\./);
  assert.doesNotMatch(arrived, /Ask Ada’s Bakery|still confirming/);
});

test('A surplus that was refunded → the receipt, which says what was received, says what went back; of a second payment it says nothing', async () => {
  const request = await fixtures.request({ exactMicro: 5_500_000n });
  const receipt = async () => (await startVisitor(fixtures.url).open(`/pay/${request.id}/receipt`)).html;
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  await final();
  const second = await fixtures.pay(request, { usdcMicro: 4_000_000n });
  await final();
  assert.match(await receipt(), /7\.50 USDC/);
  assert.doesNotMatch(await receipt(), /refunded|sent .* back/);

  await refund(second.txHash, second.from.address, 4_000_000n);
  await refund(txHash, from.address, 2_000_000n);
  await follow();
  assert.match(await receipt(), /7\.50 USDC/);
  assert.match(await receipt(), /<p>Ada’s Bakery refunded 2\.00 USDC\.<\/p>/);
  assert.doesNotMatch(await receipt(), /refunded 4\.00/);
});

test('A refund that is only started, or that failed, does not keep the customer from asking for it', async () => {
  const request = await fixtures.request({ exactMicro: 6_000_000n });
  const { txHash } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  await final();
  await openRefund(fixtures.visitor, nameOf(txHash));
  assert.match(await payPage(request), /Ask Ada’s Bakery for a refund\./);
  await fixtures.db.sql`update returns set state = 'failed', return_tx_hash = ${txHash} where tx_hash = ${txHash}`;
  assert.match(await payPage(request), /Ask Ada’s Bakery for a refund\./);
});

test('A second payment and one that came too late → the page says what was refunded, and asks for nothing twice', async () => {
  const twice = await fixtures.request({ exactMicro: 7_000_000n });
  await fixtures.pay(twice);
  await final();
  const second = await fixtures.pay(twice);
  await final();
  assert.match(await payPage(twice), /A second payment of 7\.00 USDC arrived\./);
  await refund(second.txHash, second.from.address, 7_000_000n);
  await follow();
  const settled = await payPage(twice);
  assert.match(settled, /Ada’s Bakery refunded 7\.00 USDC\./);
  assert.doesNotMatch(settled, /A second payment/);

  const expired = await fixtures.request({ exactMicro: 8_000_000n });
  await fixtures.db.sql`update requests set expires_at = now() - interval '2 hours' where id = ${expired.id}`;
  const late = await fixtures.pay(expired);
  await final();
  assert.match(await payPage(expired), /8\.00 USDC arrived after the request had ended.*ask them about it/);
  // The merchant refunded it another way, which the chain cannot show.
  const page = await openRefund(fixtures.visitor, nameOf(late.txHash));
  const other = await fixtures.node.pay({ from: late.from, to: fixtures.node.wallet().address, usdcMicro: 1_000_000n });
  await fixtures.caughtUp();
  await fixtures.visitor.send(page, nameOf(late.txHash), { return_tx_hash: other, elsewhere: '1' });
  const reported = await payPage(expired);
  assert.match(reported, /A payment arrived too late/);
  assert.match(reported, /Ada’s Bakery says it refunded 8\.00 USDC\./);
  assert.doesNotMatch(reported, /ask them about it/);
});

test('A refund of less than the customer is owed → the page says how much of it was refunded, and not that nothing is left to do', async () => {
  const request = await fixtures.request({ exactMicro: 9_000_000n });
  await fixtures.pay(request);
  await final();
  const second = await fixtures.pay(request);
  await final();
  await refund(second.txHash, second.from.address, 1_500_000n);
  const sent = await payPage(request);
  assert.match(sent, /Ada’s Bakery sent 1\.50 USDC back\. The network is still confirming it\./);
  assert.match(sent, /If the rest has not arrived, ask Ada’s Bakery for it\./);
  assert.doesNotMatch(sent, /There is nothing left to do/);
  await follow();
  const confirmed = await payPage(request);
  assert.match(confirmed, /Ada’s Bakery refunded 1\.50 of 9\.00 USDC\./);
  assert.match(confirmed, /If the rest has not arrived, ask Ada’s Bakery for it\./);
  assert.doesNotMatch(confirmed, /There is nothing left to do/);
  const { html } = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(
    html,
    /That is 7\.50 USDC less than the amount to refund\. If you still owe the rest, send it from your/,
  );
});
