import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { html } from '../../src/lib/text/html.ts';
import { reportTransaction } from '../../src/payments/transaction-report.ts';
import { fundLookalike, lookalikeAddress, lookalikeTransfer } from '../../src/sandbox/lookalike.ts';
import { sendTransaction } from '../../src/sandbox/wallet.ts';
import { dashboardTexts } from '../../src/texts/dashboard.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { transactionReport } from '../../src/web/transaction-report.ts';
import { makeMerchant, makePartner } from '../support/fixtures.ts';
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

const inPortal = async (hash: string, who = owner) => (await who.open(`/portal/transaction?hash=${hash}`)).html;
const inDashboard = async (hash: string, who = fixtures.visitor) =>
  (await who.open(`/dashboard/transaction?hash=${hash}`)).html;

test('a transaction that pays a request → which one, what it moved, and nothing to another merchant or partner', async () => {
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request);
  await fixtures.turn();
  for (const [html, path] of [
    [await inPortal(` ${txHash.toUpperCase().replace('0X', '0x')} `), `/portal/requests/${request.id}`],
    [await inDashboard(txHash), `/dashboard/payments/${request.id}`],
  ] as const) {
    assert.match(html, /It pays a request/);
    assert.ok(html.includes(`href="${path}"`), path);
    assert.match(html, /One of your wallets\./);
  }
  const other = await makeOnboarded(fixtures.ctx, fixtures.scope);
  const stranger = await portalVisitor(fixtures.ctx, fixtures.url, (await makePartner(fixtures.db)).partner.id);
  for (const html of [
    await inDashboard(txHash, await fixtures.signedIn(fixtures.scope, other)),
    await inPortal(txHash, stranger),
  ]) {
    assert.match(html, /It does not pay any of your wallets/);
    assert.ok(!html.includes(request.id) && !html.includes('One of your wallets.'));
  }
});

test('an unmatched payment → its reason, and where to decide', async () => {
  const request = await fixtures.request({ exactMicro: 33_000_000n });
  const { txHash } = await fixtures.pay(request, { usdcMicro: 21_000_000n, tagged: false });
  await fixtures.turn();
  assert.match(await inPortal(txHash), /It arrived but is not matched to a request/);
  const html = await inDashboard(txHash);
  const path = /<a href="(\/dashboard\/unmatched\/[^"]+)">See unmatched payments/.exec(html)?.[1];
  assert.equal((await fixtures.visitor.open(path ?? assert.fail('no way'))).status, 200);
});

test('a payment of before the wallet was watched → it will not appear, instead of a promise', async () => {
  const { node } = fixtures;
  const early = await makeMerchant(fixtures.db, fixtures.scope);
  const from = node.wallet();
  await node.fund(from.address, 5_000_000n);
  const txHash = await fixtures.db.transaction(async (tx) => {
    // So that the watcher does not read the block before the page is asked; pages that set a payment aside still can.
    await tx`select from chain_cursors where chain_id = ${node.chain.chainId} for no key update`;
    const hash = await node.pay({ from, to: early.wallet, usdcMicro: 1_000_000n });
    assert.match(await inPortal(hash), /It pays one of your wallets and is being read/, 'its block is still to come');
    return hash;
  });
  await fixtures.turn();
  assert.match(await inPortal(txHash), /It arrived when no request was open.*will not appear in any list/s);
});

test('another token, a pending or unknown transaction, a text that is no hash → the page explains each, with what to do', async () => {
  const { node, merchant } = fixtures;
  const from = node.wallet();
  await node.fund(from.address, 5_000_000n);
  await fundLookalike(node.chain, from.address, 1_000_000n);
  const data = lookalikeTransfer(merchant.wallet, 1_000_000n);
  const wrong = await sendTransaction(node.chain, from.privateKey, lookalikeAddress, data);
  assert.match(await inPortal(wrong), /It sent another token.*Another token/s);
  const later = node.wallet();
  await node.fund(later.address, 5_000_000n);
  const waits = await node.offer({ from: later, to: merchant.wallet, usdcMicro: 1n, ahead: 1 });
  assert.match(await inDashboard(waits), /It is waiting on /);
  assert.match(await inPortal(`0x${'7'.repeat(64)}`), /This transaction was not found on any network/);
  assert.match(await inDashboard('0x12'), /This is not a transaction hash/);
  assert.match(await inPortal('%3Cb%3E'), /&lt;b&gt;/);
});

test('one asker looks up more than twenty in a minute → chains are not queried for that one, and are for all others', async () => {
  const { ctx, db } = fixtures;
  const { test: scope } = await makePartner(db);
  const now = new Date();
  const still = { ...ctx, clock: { now: () => now } };
  const look = async (who: string | null) => (await reportTransaction(still, scope, `0x${'8'.repeat(64)}`, who)).state;
  const some = (count: number, who: string | null) => Promise.all(Array.from({ length: count }, () => look(who)));
  const merchants = Array.from({ length: 6 }, () => randomUUID());
  const [first = '', ...others] = merchants;
  assert.deepEqual(await some(21, first), [...Array.from({ length: 20 }, () => 'unknown'), 'limited']);
  for (const other of others.slice(0, 4)) assert.ok((await some(20, other)).every((state) => state === 'unknown'));
  assert.equal(await look(others.at(-1) ?? ''), 'limited'); // a hundred of all merchants together
  assert.deepEqual(await some(21, null), [...Array.from({ length: 20 }, () => 'unknown'), 'limited']);
});

test('too many look-ups, or a network that does not respond → the page says which, and to try again', () => {
  const words = wordsOf('en');
  const places = {
    ...{ path: '', request: () => '', unmatched: () => '', networks: '' },
    ...{ reasons: dashboardTexts(words).reason, transaction: () => html`` },
  };
  const says = (state: 'limited' | 'unavailable') =>
    transactionReport(
      words,
      { state, chain: null, isOtherMode: false, isToBeRead: false, moved: [], stored: [] },
      '',
      places,
    ).text;
  assert.match(says('limited'), /Too many look-ups.*Nothing is lost\. Try again in a minute\./s);
  assert.match(says('unavailable'), /Not all networks responded.*Nothing is lost\. Try again in a minute\./s);
});
