import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Hex } from 'viem';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { fundLookalike, lookalikeAddress, lookalikeTransfer } from '../../src/sandbox/lookalike.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { makeRequest } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import type { Visitor } from '../support/people/visitor.ts';

let fixtures: DashboardFixtures;
let owner: Visitor;
before(async () => {
  fixtures = await dashboardFixtures();
  owner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
});
after(() => fixtures?.stop());

/** The timelines of partner and merchant as text. */
async function timelines({ id }: { id: string }): Promise<{ portal: string; dashboard: string }> {
  const timeline = ({ html }: { html: string }) =>
    (/<ol class="timeline">.*?<\/ol>/s.exec(html)?.[0] ?? assert.fail('no timeline'))
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ');
  return {
    portal: timeline(await owner.open(`/portal/requests/${id}`)),
    dashboard: timeline(await fixtures.visitor.open(`/dashboard/payments/${id}`)),
  };
}

/** Sends another token that calls itself USDC. */
async function payLookalike(request: RequestRow): Promise<string> {
  const { node } = fixtures;
  const [from, micro] = [node.wallet(), BigInt(request.usdc_micro)];
  await node.fund(from.address, 0n);
  await fundLookalike(node.chain, from.address, micro);
  const data: Hex = lookalikeTransfer(request.wallet_address, micro);
  return sendTransaction(node.chain, from.privateKey, lookalikeAddress, data);
}

// Findings about a wallet are cached for ten seconds, so this test comes first.
test('a token that calls itself USDC but is another → both timelines say so; after payment they no longer look', async () => {
  const request = await fixtures.request({ exactMicro: 7_654_321n });
  const txHash = await payLookalike(request);
  await fixtures.turn();
  const { portal, dashboard } = await timelines(request);
  for (const told of [portal, dashboard]) {
    assert.match(told, /The wrong token arrived on /);
    assert.match(told, /It calls itself USDC \( 0x[0-9a-fA-F]{6}…[0-9a-fA-F]{6} \), but it is not an accepted token/);
    assert.ok(told.includes(txHash));
  }
  await fixtures.pay(request);
  await fixtures.node.mine(5);
  await fixtures.turn();
  await fixtures.turn();
  const paid = await timelines(request);
  for (const told of [paid.portal, paid.dashboard]) assert.doesNotMatch(told, /wrong token/);
});

test('a stranger sends a worthless token in the amount due → the page still shows the near real payment', async () => {
  const merchant = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const request = await makeRequest(fixtures.db, fixtures.scope, merchant, { exactMicro: 21_000_000n });
  await payLookalike(request);
  await fixtures.pay(request, { usdcMicro: 20_000_000n, tagged: false });
  await fixtures.turn();
  const answer = await fetch(`${fixtures.url}/pay/${request.id}/state`);
  const { kind, parts } = (await answer.json()) as { kind: string; parts: { name: string; html: string }[] };
  const news = parts.find(({ name }) => name === 'news')?.html ?? '';
  assert.equal(kind, 'stray');
  assert.match(news, /A token named USDC arrived/);
  assert.match(news, /A payment of 20\.00 USDC arrived; 21\.00 was due/);
});

test('an amount that an exchange rounded → both timelines say what arrived and what was due, and who decides', async () => {
  const request = await fixtures.request({ exactMicro: 12_500_000n });
  const { txHash } = await fixtures.pay(request, { usdcMicro: 12_000_000n, tagged: false });
  await fixtures.turn();
  const { portal, dashboard } = await timelines(request);
  for (const told of [portal, dashboard]) {
    assert.match(told, /12\.00 USDC arrived on .*; 12\.50 USDC was due/);
    assert.match(told, /Exchanges deduct a fee or round amounts/);
    assert.ok(told.includes(txHash));
  }
  assert.match(portal, /The merchant decides what it was for\. Unmatched payments of this merchant/);
  const { html } = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  const decide = /<a href="(\/dashboard\/unmatched\/[^"]+)">Decide what it was for<\/a>/.exec(html)?.[1];
  assert.equal((await fixtures.visitor.open(decide ?? assert.fail('no way to decide'))).status, 200);
});

test('a transaction that somebody reported and that failed → both timelines name it', async () => {
  const request = await fixtures.request({ exactMicro: 3_456_789n });
  const from = fixtures.node.wallet();
  await fixtures.node.fund(from.address, 1n);
  const txHash = await fixtures.node.offer({
    from,
    to: request.wallet_address,
    usdcMicro: 3_456_789n,
    reference: request.reference,
  });
  await fixtures.node.mine(1);
  await submitHash(fixtures.ctx, request.id, { txHash });
  const { portal, dashboard } = await timelines(request);
  for (const told of [portal, dashboard]) assert.ok(told.includes('Transaction failed') && told.includes(txHash), told);
});

test('a chain that cannot be read → both timelines say that payments there appear later', async () => {
  const request = await fixtures.request();
  // No leader may write now, as when no endpoint answers: the watcher would say that it reads.
  await fixtures.db.sql`update chain_cursors set fence = 9000000, updated_at = now() - interval '2 hours'`;
  try {
    const { portal, dashboard } = await timelines(request);
    for (const told of [portal, dashboard])
      assert.match(told, /We cannot read .* right now Payments made there appear/);
  } finally {
    await fixtures.db.sql`update chain_cursors set fence = 1`;
    await fixtures.node.mine(1);
    await fixtures.caughtUp();
  }
});
