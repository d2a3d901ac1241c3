import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import { watchScope } from '../../src/db/scope-changes.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { claim, claimTypedData } from '../../src/payments/submitted/claim.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { sumUnmatched } from '../../src/payments/unmatched/browse.ts';
import { detachPartialPayment } from '../../src/refunds/detach-partial.ts';
import { followRefunds } from '../../src/refunds/follow.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { until } from '../support/until.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
});
after(() => fixtures.stop());

const keyFor = (txHash: string) => ({ chainId: 31337, txHash, ordinal: 0 });
const nameOf = (txHash: string) => `31337_${txHash}_0`;
const pageOf = ({ id }: RequestRow) => fixtures.visitor.open(`/dashboard/payments/${id}`);
const offersPartialRefund = (html: string) => html.includes('/part"');
const releases = async () => (await fixtures.audit()).filter(({ action }) => action === 'payment.released');

/** A request for 10 USDC, of which 4 have arrived and are final. */
async function partiallyPaid() {
  const request = await fixtures.request({ exactMicro: 10_000_000n });
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: 4_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  return { request, txHash, from };
}
/** Makes the request expire this many minutes ago. Payments count for another 30 minutes. */
const expire = ({ id }: RequestRow, minutes: number) =>
  fixtures.db.sql`update requests set expires_at = now() - ${`${minutes} minutes`}::interval where id = ${id}`;

test('A partial payment of an expired request is refunded like any payment: detached, sent, looked up on the chain, shown, audited', async () => {
  const { request, txHash, from } = await partiallyPaid();
  assert.ok(!offersPartialRefund((await pageOf(request)).html), 'not while the customer can pay the rest');
  await expire(request, 60);
  const ended = await pageOf(request);
  assert.match(
    ended.html,
    /4\.00 of 10\.00\d* USDC arrived before the request ended and is in your wallet\. Refund it/,
  );

  const offer = await fixtures.visitor.send(ended, '/part');
  assert.match(offer.html, /Refund 4\.00 USDC/);
  assert.match(offer.html, /Was it sent from an exchange\?/);
  const { privateKey, wallet } = fixtures.merchant;
  const back = await fixtures.node.pay({
    from: { privateKey, address: wallet as Hex },
    to: from.address,
    usdcMicro: 4_000_000n,
  });
  await fixtures.caughtUp();
  await fixtures.visitor.send(offer, nameOf(txHash), { return_tx_hash: back });
  assert.match((await pageOf(request)).html, /Refund on its way/);
  const partner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
  const portalTells = async (word: string, rest: RegExp) => {
    const detail = (await partner.open(`/portal/requests/${request.id}`)).html;
    assert.ok(detail.includes(`<strong>${word}</strong>`), word);
    assert.match(detail, rest);
    const list = (await partner.open('/portal/unmatched')).html;
    assert.match(list, new RegExp(`${word}</span>.*A partial payment, taken off its request to be refunded`, 's'));
  };
  await portalTells('Refund pending', /4\.00 USDC to .* for the network to confirm it\./s);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await fixtures.db.sql`update returns set next_look_at = now()`;
  await followRefunds(fixtures.ctx);

  const told = await pageOf(request);
  assert.match(told.html, /4\.00 USDC to .*, confirmed by the network\./s);
  assert.match(told.html, /Expired<\/span>/);
  assert.ok(!told.html.includes('is missing'), 'it is nothing that was paid in part any more');
  assert.equal((await fixtures.db.sql`select from underpaid_requests where request_id = ${request.id}`).length, 0);
  await portalTells('Refunded', /4\.00 USDC to .*, confirmed by the network\./s);
  const csv = (await partner.open('/portal/unmatched.csv')).html;
  assert.match(csv, new RegExp(`${txHash}.*,confirmed,${back}`));
  const acts = (await fixtures.audit()).filter(({ object_id }) => object_id === nameOf(txHash));
  assert.deepEqual(
    acts.map(({ action, details }) => [action, JSON.parse(details).request ?? null]),
    [
      ['payment.released', request.id],
      ['payment.returned', null],
    ],
  );
});

test('A partial payment is detached once, by its merchant, after the end, and when it is final; otherwise nothing changes', async () => {
  const request = await fixtures.request({ exactMicro: 10_000_000n });
  const { txHash } = await fixtures.pay(request, { usdcMicro: 4_000_000n });
  await fixtures.turn();
  await expire(request, 60);
  const soon = await pageOf(request);
  assert.match(soon.html, /You can refund 4\.00 USDC once the network has made the payment final/);
  const detach = (accountId = fixtures.merchant.id) =>
    detachPartialPayment(fixtures.ctx, theService, fixtures.scope, accountId, keyFor(txHash)).then(({ kind }) => kind);
  assert.equal(await detach(), 'too_early');
  await fixtures.node.mine(3);
  await fixtures.turn();
  await fixtures.db
    .sql`update requests set expires_at = now() + interval '1 hour', status = 'opened' where id = ${request.id}`;
  assert.equal(await detach(), 'too_early');
  await expire(request, 60);
  const neighbour = await makeOnboarded(fixtures.ctx, fixtures.scope);
  await assert.rejects(detach(neighbour.id), { code: 'not_found' });
  const page = await pageOf(request);
  await fixtures.db.sql`update requests set expires_at = now() + interval '1 hour' where id = ${request.id}`;
  const refused = await fixtures.visitor.send(page, '/part');
  assert.match(refused.html, /Nothing was changed and no money was moved/);
  assert.equal((await fixtures.transfer(txHash))?.request_id, request.id);

  await expire(request, 60);
  const before = (await releases()).length;
  const sent = await Promise.all([fixtures.visitor.send(page, '/part'), fixtures.visitor.send(page, '/part')]);
  for (const one of sent) assert.match(one.html, /Refund 4\.00 USDC/);
  assert.equal((await releases()).length, before + 1);
  const { request_id, counts, reason } = (await fixtures.transfer(txHash)) ?? {};
  assert.deepEqual([request_id, counts, reason], [null, false, 'released']);
});

test('A detached payment pays nothing any more: neither together with a later rest, nor by its sender’s signature', async () => {
  const { request, txHash, from } = await partiallyPaid();
  await expire(request, 10);
  await fixtures.visitor.send(await pageOf(request), '/part');
  await fixtures.pay(request, { usdcMicro: 6_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'none', 'ten minutes after the end 6 of 10 count alone');
  assert.match((await pageOf(request)).html, /6\.00 of 10\.00\d* USDC arrived/);

  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), { kind: 'given_back' });
  const key = keyFor(txHash);
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(
    claimTypedData(fixtures.ctx.config, request.id, key),
  );
  assert.deepEqual(await claim(fixtures.ctx, request.id, { ...key, signature }), { kind: 'given_back' });
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await fixtures.events(request)).length, 0);
});

test('A payment that named no request and was refunded cannot be claimed by its sender afterwards', async () => {
  const request = await fixtures.request({ exactMicro: 7_000_000n });
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: 7_000_077n, tagged: false });
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await submitHash(fixtures.ctx, request.id, { txHash })).kind, 'needs_signature');
  const page = await openRefund(fixtures.visitor, nameOf(txHash));
  await fixtures.visitor.send(page, nameOf(txHash), { return_tx_hash: `0x${'7'.repeat(64)}` });
  const key = keyFor(txHash);
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(
    claimTypedData(fixtures.ctx.config, request.id, key),
  );
  const claimed = () => claim(fixtures.ctx, request.id, { ...key, signature });
  assert.deepEqual(await claimed(), { kind: 'given_back' });
  assert.deepEqual(await submitHash(fixtures.ctx, request.id, { txHash }), { kind: 'given_back' });
  await fixtures.db.sql`update returns set state = 'missing' where tx_hash = ${txHash}`;
  assert.deepEqual(await claimed(), { kind: 'given_back' }, 'not by itself');
  await fixtures.visitor.send(await openRefund(fixtures.visitor, nameOf(txHash)), '/put-back');
  assert.equal((await claimed()).kind, 'counted', 'what never went back still pays');
});

test('the rest is matched while the partial payment is detached → either the request is paid or the part is gone, never both', async () => {
  for (let round = 0; round < 6; round++) {
    const { request, txHash } = await partiallyPaid();
    await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 4_000_000n });
    await fixtures.node.mine(3);
    await fixtures.caughtUp();
    await expire(request, 5);
    const detach = detachPartialPayment(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, keyFor(txHash));
    const [detached] = await Promise.all([detach, matchPending(fixtures.ctx)]);
    await matchPending(fixtures.ctx);
    await verifyFinal(fixtures.ctx);
    const isPaid = (await fixtures.read(request)).proof_status === 'verified';
    assert.equal(detached.kind, isPaid ? 'paid' : 'detached');
    assert.equal((await fixtures.transfer(txHash))?.counts, isPaid);
    assert.equal((await fixtures.events(request)).length, isPaid ? 1 : 0);
  }
});

test('The page of a request updates at once when money that came too late is refunded; the portal says when it never was', async () => {
  const { ctx, scope, db } = fixtures;
  const request = await fixtures.request();
  await expire(request, 120);
  const { txHash } = await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  let woken = 0;
  const watcher = { scope, requestId: request.id, chains: false, wake: () => woken++ };
  const stop = watchScope(db, watcher, (error) => assert.fail(String(error)));
  try {
    await until(async () => woken > 0, 'the listener has begun');
    const before = woken;
    const page = await openRefund(fixtures.visitor, nameOf(txHash));
    await fixtures.visitor.send(page, nameOf(txHash), { return_tx_hash: `0x${'6'.repeat(64)}` });
    await until(async () => woken > before, 'the note is told');
  } finally {
    stop();
  }
  const partner = await portalVisitor(ctx, fixtures.url, scope.partnerId);
  const detail = () => partner.open(`/portal/requests/${request.id}`);
  assert.match((await detail()).html, /The transaction is not on the network yet\./);
  const since = new Date(Date.now() - 3_600_000);
  const late = async () =>
    (await sumUnmatched(ctx, scope, since)).find(({ reason }) => reason === 'late')?.payments ?? 0;
  const kept = await late();
  await db.sql`update returns set state = 'missing' where tx_hash = ${txHash}`;
  assert.equal(await late(), kept + 1, 'what went back is not counted, what did not is');
  const missing = (await detail()).html;
  assert.match(missing, /<strong>Not refunded<\/strong>/);
  assert.match(missing, /the merchant most likely still has the money/);
  assert.match(missing, /It will not count until the merchant attaches it/, 'it wants an eye again');
});

test('The list says of paid requests what came too much or twice, until it was refunded; recording it leads to the request', async () => {
  const { visitor } = fixtures;
  const much = await fixtures.request({ exactMicro: 20_000_000n, memo: 'Much' });
  const twice = await fixtures.request({ exactMicro: 30_000_000n, memo: 'Twice' });
  const over = await fixtures.pay(much, { usdcMicro: BigInt(much.usdc_micro) + 2_500_000n });
  await fixtures.pay(twice);
  await fixtures.turn();
  const second = await fixtures.pay(twice, { usdcMicro: 1_750_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const list = async (q: string) => (await visitor.open(`/dashboard/payments?q=${q}`)).html;
  assert.match(await list('Much'), /Paid<\/span><p class="quiet">Overpaid by 2\.50 USDC/);
  assert.match(await list('Twice'), /Paid<\/span><p class="quiet">1\.75 USDC arrived but does not count/);
  let digit = 1;
  for (const [request, { txHash }] of [
    [much, over],
    [twice, second],
  ] as const) {
    const page = await openRefund(visitor, nameOf(txHash));
    const hash = `0x${`a${digit++}`.repeat(32)}`;
    const noted = await visitor.send(page, nameOf(txHash), { return_tx_hash: hash });
    assert.match(noted.html, /The refund was recorded/);
    assert.ok(noted.html.includes(request.id), 'the page of the request');
    assert.match(noted.html, new RegExp(`<li><strong>Refund pending</strong>.*${hash}`, 's'));
  }
  assert.match(await list('Much'), /Paid<\/span><\/div>/);
  assert.match(await list('Twice'), /Paid<\/span><\/div>/);
});

test('A stranger’s dust after an overpayment → the surplus is still refunded to its payer', async () => {
  const request = await fixtures.request({ exactMicro: 10_000_000n, memo: 'Dusty' });
  const dust = await fixtures.pay(request, { usdcMicro: 1n });
  await fixtures.turn();
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) + 2_000_000n });
  // As on another chain, which is read sooner and whose blocks have a later time.
  await fixtures.db.sql`
    update transfers set block_time = block_time + interval '1 minute' where tx_hash = ${dust.txHash}`;
  await fixtures.turn();
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  const { html } = await pageOf(request);
  assert.match(html, /Overpaid by 2\.00 USDC.*Overpaid by 0\.000001 USDC/s);
  assert.ok(html.includes(`/dashboard/give-back/${nameOf(txHash)}"`));
  const refund = await openRefund(fixtures.visitor, nameOf(txHash));
  assert.match(refund.html, /data-copy="2(\.0+)?"/);
  assert.match(refund.html.toLowerCase(), new RegExp(`data-copy="${from.address.toLowerCase()}"`));
  const strangers = await openRefund(fixtures.visitor, nameOf(dust.txHash));
  assert.match(strangers.html, /data-copy="0\.000001"/);
  const told = async () =>
    (await fixtures.visitor.open('/dashboard/payments?q=Dusty')).html.match(/Overpaid by [\d.]+/g);
  assert.deepEqual(await told(), ['Overpaid by 2.000001']);
  await fixtures.visitor.send(refund, nameOf(txHash), { return_tx_hash: `0x${'d1'.repeat(32)}` });
  assert.equal(await told(), null, 'dust is nobody’s to decide once the payer has the rest');
});
