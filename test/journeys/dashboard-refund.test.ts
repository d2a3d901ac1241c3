import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import { QueuePoller } from '../../src/db/due.ts';
import { formatMicro } from '../../src/lib/money.ts';
import { attachUnmatched } from '../../src/payments/unmatched/attach.ts';
import { followRefunds } from '../../src/refunds/follow.ts';
import { checkRefund, recordRefund } from '../../src/refunds/refund.ts';
import { mineWhileWaiting } from '../../src/sandbox/mining.ts';
import { blocksDue } from '../../src/sandbox/mining-store.ts';
import { makeRequest } from '../support/fixtures.ts';
import { secondEndpoint } from '../support/payments/second-endpoint.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import type { Visit } from '../support/people/forms.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { until } from '../support/until.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
  await makeRequest(fixtures.db, fixtures.scope, fixtures.merchant); // now the merchant's wallet is watched
});
after(() => fixtures.stop());

const hash = (digit: string) => `0x${digit.repeat(64)}`;

type Stray = { key: string; txHash: string; payer: ReturnType<DashboardFixtures['node']['wallet']> };

/** A payment from a new payer that names no request. */
async function stray(usdcMicro: bigint, payer = fixtures.node.wallet()): Promise<Stray> {
  const txHash = await fixtures.node.pay({ from: payer, to: fixtures.merchant.wallet, usdcMicro });
  await fixtures.node.mine(3);
  await fixtures.turn();
  return { key: `31337_${txHash}_0`, txHash, payer };
}

const pageOf = ({ key }: Stray) => openRefund(fixtures.visitor, key);
const note = (page: Visit, { key }: Stray, typed: Record<string, string>) => fixtures.visitor.send(page, key, typed);
/** The merchant's wallet sends money. */
const send = (to: string, usdcMicro: bigint) => {
  const { privateKey, wallet } = fixtures.merchant;
  return fixtures.node.pay({ from: { privateKey, address: wallet as Hex }, to, usdcMicro });
};
const row = async ({ txHash }: Stray) => (await fixtures.db.sql`select * from returns where tx_hash = ${txHash}`)[0];
const waitedTwoMinutes = ({ txHash }: Stray) =>
  fixtures.db.sql`update returns set noted_at = noted_at - interval '2 minutes' where tx_hash = ${txHash}`;
/** Makes the loop look now, even if the next look is not due. */
async function follow(): Promise<void> {
  await fixtures.db.sql`update returns set next_look_at = now()`;
  await followRefunds(fixtures.ctx);
}

test('A recorded refund is looked up: on its way, then confirmed once it is final, on every page that shows it', async () => {
  const paid = await stray(4_000_000n);
  const page = await pageOf(paid);
  assert.match(page.html, /<a href="\/dashboard\/unmatched" aria-current="page">/);
  const back = await send(paid.payer.address, 4_000_000n);
  await fixtures.caughtUp();
  const noted = await note(page, paid, { return_tx_hash: back });
  assert.match(noted.html, /Refund pending/);
  const onItsWay = await pageOf(paid);
  assert.match(onItsWay.html, /Refund on its way/);
  assert.match(onItsWay.html, /data-copy="0x[0-9a-f]{64}"/);
  assert.match(onItsWay.html, /4\.00 USDC to /);
  assert.ok(!onItsWay.html.includes('id="note"'), 'it is not asked for twice');
  await follow();
  assert.equal((await row(paid))?.state, 'sent', 'not before it is final');

  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.deepEqual([(await row(paid))?.state, (await row(paid))?.given_micro], ['confirmed', '4000000']);
  assert.match((await pageOf(paid)).html, /4\.00 USDC to .*, confirmed by the network\./s);
  assert.match((await fixtures.visitor.open('/dashboard/unmatched')).html, /Refunded<\/span>/);
  assert.equal(await followRefunds(fixtures.ctx), 0, 'what is final is not looked for any more');
});

test('A refund that is final when it is recorded is confirmed at once, and page and exports say how much it was', async () => {
  const partner = await portalVisitor(fixtures.ctx, fixtures.url, fixtures.scope.partnerId);
  for (const [given, label, text] of [
    [2_500_000n, 'Partly refunded', /That is 0\.50 USDC less than the amount to refund/],
    [3_250_000n, 'Refunded', /That is 0\.25 USDC more than the amount to refund/],
  ] as const) {
    const paid = await stray(3_000_000n);
    const back = await send(paid.payer.address, given);
    await fixtures.node.mine(3);
    await fixtures.caughtUp();
    await note(await pageOf(paid), paid, { return_tx_hash: back.toUpperCase().replace('0X', '0x') });
    assert.deepEqual([(await row(paid))?.state, (await row(paid))?.given_micro], ['confirmed', String(given)]);
    const page = (await pageOf(paid)).html;
    assert.match(page, text);
    assert.ok(page.includes(`<strong>${label}</strong>`), label);

    const [inList] = (await fixtures.visitor.open('/dashboard/unmatched')).html
      .split('</tr>')
      .filter((one) => one.includes(paid.key));
    assert.ok(inList?.includes(`${label}</span>`), label);
    assert.match((await partner.open(`/portal/unmatched?q=${paid.txHash}`)).html, new RegExp(`${label}</span>`));
    const inCsv = new RegExp(`${paid.txHash},.*,confirmed,${back},${formatMicro(given)},[^,]+\\r?\\n`);
    assert.match((await fixtures.visitor.open('/dashboard/unmatched.csv')).html, inCsv);
    assert.match((await partner.open('/portal/unmatched.csv')).html, inCsv);
  }
});

test('In an idle sandbox blocks are mined until a refund is final, and no longer', async () => {
  const paid = await stray(1_700_000n);
  const back = await send(paid.payer.address, 1_700_000n);
  await fixtures.caughtUp();
  await note(await pageOf(paid), paid, { return_tx_hash: back });
  const isDue = async () => (await new QueuePoller(fixtures.db.sql, [blocksDue], 0).next())[0] !== null;
  assert.ok(await isDue());
  for (let blocks = 0; blocks < 3; blocks++) assert.equal(await mineWhileWaiting(fixtures.ctx), 1);
  await fixtures.caughtUp();
  await follow();
  assert.equal((await row(paid))?.state, 'confirmed');
  assert.equal(await mineWhileWaiting(fixtures.ctx), 0);
  assert.ok(!(await isDue()));

  const mistyped = await stray(1_800_000n);
  await note(await pageOf(mistyped), mistyped, { return_tx_hash: hash('c') });
  assert.equal(await mineWhileWaiting(fixtures.ctx), 1);
  await fixtures.db
    .sql`update returns set noted_at = noted_at - interval '11 minutes' where tx_hash = ${mistyped.txHash}`;
  assert.equal(await mineWhileWaiting(fixtures.ctx), 0, 'a hash that no endpoint knows does not mine for ever');
});

test('A transaction that moves nothing to the payer is not recorded, unless the merchant says that it went another way', async () => {
  const paid = await stray(1_500_000n);
  const elsewhere = fixtures.node.wallet();
  const other = await send(elsewhere.address, 1_500_000n);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const page = await pageOf(paid);
  const refused = await note(page, paid, { return_tx_hash: other });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /does not send USDC from your wallet back to the payer, so nothing was recorded/);
  assert.equal((await row(paid))?.state, 'returning');
  const incoming = await note(page, paid, { return_tx_hash: (await stray(1_000_000n)).txHash });
  assert.match(incoming.html, /does not send USDC from your wallet/, 'nor one in the other direction');

  await note(page, paid, { return_tx_hash: other, elsewhere: '1' });
  assert.equal((await row(paid))?.state, 'other');
  const told = await pageOf(paid);
  assert.match(told.html, /Refunded, as you reported/);
  assert.match((await fixtures.visitor.open('/dashboard/unmatched')).html, /Refunded<\/span>/);

  const right = await send(paid.payer.address, 1_500_000n);
  await fixtures.caughtUp();
  await note(told, paid, { return_tx_hash: right });
  const { state, return_tx_hash } = (await row(paid)) ?? {};
  assert.deepEqual([state, return_tx_hash], ['sent', right], 'another one takes its place');
});

test('While a recorded transaction is in doubt, each page that shows the refund links to where another is recorded', async () => {
  const request = await fixtures.request({ exactMicro: 2_600_000n });
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const { txHash, from } = await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const second = { key: `31337_${txHash}_0`, txHash, payer: from };
  const link = new RegExp(`<a href="/dashboard/give-back/${second.key}">Record another transaction</a>`);
  const isOffered = async () => {
    const paths = [`/dashboard/payments/${request.id}`, `/dashboard/unmatched/${second.key}`];
    const pages = await Promise.all(paths.map((path) => fixtures.visitor.open(path)));
    return pages.map(({ html }) => link.test(html));
  };
  await note(await pageOf(second), second, { return_tx_hash: hash('d') });
  assert.deepEqual(await isOffered(), [true, true], 'no endpoint knows it');
  await waitedTwoMinutes(second);
  const other = await send(fixtures.node.wallet().address, 2_600_000n);
  await fixtures.caughtUp();
  await note(await pageOf(second), second, { return_tx_hash: other, elsewhere: '1' });
  assert.deepEqual(await isOffered(), [true, true], 'it does not pay the payer');
  const right = await send(second.payer.address, BigInt(request.usdc_micro));
  await fixtures.caughtUp();
  await note(await pageOf(second), second, { return_tx_hash: right });
  assert.deepEqual(await isOffered(), [false, false]);
});

test('A transfer to the payer from before the payment refunded nothing', async () => {
  const payer = fixtures.node.wallet();
  await fixtures.node.fund(fixtures.merchant.wallet, 1_000_000n);
  const early = await send(payer.address, 1_000_000n);
  const txHash = await fixtures.node.pay({ from: payer, to: fixtures.merchant.wallet, usdcMicro: 1_000_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const paid = { key: `31337_${txHash}_0`, txHash, payer };
  assert.match((await note(await pageOf(paid), paid, { return_tx_hash: early })).html, /so nothing was recorded/);
});

test('A transaction that refunded one payment refunds no second one, except by the merchant’s word', async () => {
  const payer = fixtures.node.wallet();
  const [first, second] = [await stray(600_000n, payer), await stray(700_000n, payer)];
  const back = await send(payer.address, 600_000n);
  await note(await pageOf(first), first, { return_tx_hash: back });
  const refused = await note(await pageOf(second), second, { return_tx_hash: back });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /Already recorded/);
  assert.deepEqual([(await row(second))?.state, (await row(second))?.return_tx_hash], ['returning', null]);
  const stranger = await stray(800_000n);
  await note(await pageOf(stranger), stranger, { return_tx_hash: back, elsewhere: '1' });
  assert.equal((await row(stranger))?.state, 'other');
  const acts = (await fixtures.audit()).filter(({ action }) => action === 'payment.returned');
  assert.deepEqual(
    [first, second, stranger].map(({ key }) => acts.filter(({ object_id }) => object_id === key).length),
    [1, 0, 1],
  );
});

test('One transaction is recorded for two payments at the same moment → it refunds only the one that it moved enough for', async () => {
  const payer = fixtures.node.wallet();
  const both = [await stray(600_000n, payer), await stray(600_000n, payer)];
  for (const paid of both) await pageOf(paid);
  const back = await send(payer.address, 600_000n);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const checked = await Promise.all(
    both.map(async ({ txHash }) => {
      const key = { chainId: 31337, txHash, ordinal: 0 };
      const said = { refundTxHash: back, elsewhere: false };
      const one = await checkRefund(fixtures.ctx, fixtures.scope, fixtures.merchant.id, key, said);
      assert.ok(one.fault === null);
      return one;
    }),
  );
  const hashes = both.map(({ txHash }) => txHash);
  // Each waits before it writes: the second must not have divided the money before it knows of the first.
  const { recording } = await fixtures.db.transaction(async (tx) => {
    await tx`select from returns where tx_hash = any(${hashes}::text[]) for update`;
    const recording = checked.map((one) =>
      recordRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, one),
    );
    await until(async () => {
      const waiting = await fixtures.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length === both.length;
    }, 'both wait');
    return { recording };
  });
  assert.deepEqual(new Set(await Promise.all(recording)), new Set([null, 'already_refunded']));
  const rows = await Promise.all(both.map(row));
  assert.deepEqual(rows.map((one) => one?.given_micro).sort(), ['600000', null]);
});

test('A transaction is recorded for at most 500 payments of one payer, because more could not be distinguished', async () => {
  const paid = await stray(400_000n);
  const back = await send(paid.payer.address, 500_000n);
  await fixtures.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, token_address, from_address,
      to_address, usdc_micro, return_tx_hash, state, noted_at)
    select partner_id, test_mode, chain_id, tx_hash, n, account_id, token_address, to_address, from_address, 1, ${back},
      'sent', now() - interval '1 minute'
    from transfers, generate_series(1, 500) n where tx_hash = ${paid.txHash}`;
  const refused = await note(await pageOf(paid), paid, { return_tx_hash: back });
  assert.equal(refused.status, 409);
  assert.match(refused.html, /This transaction is already recorded for 500 payments/);
  const noted = () => fixtures.db.sql`select ordinal from returns where return_tx_hash = ${back}`;
  assert.equal((await noted()).length, 500);

  await fixtures.db.sql`delete from returns where return_tx_hash = ${back} and ordinal = 500`;
  await note(await pageOf(paid), paid, { return_tx_hash: back });
  assert.equal((await noted()).length, 500);
  await follow();
  const [sum] = await fixtures.db.sql`select sum(given_micro) from returns where return_tx_hash = ${back}`;
  assert.equal(sum?.sum, '500000', 'no unit counts twice');
  await fixtures.db.sql`delete from returns where return_tx_hash = ${back}`;
});

test('A failed transaction is not recorded; one that fails or is never found afterwards can be sent again, or cancelled', async () => {
  const paid = await stray(5_000_000n);
  const empty = fixtures.node.wallet();
  await fixtures.node.fund(empty.address, 0n);
  const failed = await fixtures.node.offer({ from: empty, to: paid.payer.address, usdcMicro: 5_000_000n });
  await fixtures.node.mine(1);
  const page = await pageOf(paid);
  const refused = await note(page, paid, { return_tx_hash: failed });
  assert.match(refused.html, /This transaction failed and moved no money, so nothing was recorded/);

  await note(page, paid, { return_tx_hash: hash('2') });
  assert.match((await pageOf(paid)).html, /We cannot find the transaction on the network yet/);
  await fixtures.db.sql`update returns set return_tx_hash = ${failed} where tx_hash = ${paid.txHash}`;
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.equal((await row(paid))?.state, 'failed');
  assert.match((await fixtures.visitor.open('/dashboard/unmatched')).html, /Not refunded<\/span>/);
  const again = await pageOf(paid);
  assert.match(again.html, /The transaction failed/);
  assert.match(again.html, /data-refund=/, 'it is offered again');

  await note(again, paid, { return_tx_hash: hash('3') });
  await follow();
  assert.equal((await row(paid))?.state, 'sent');
  await fixtures.db.sql`update returns set noted_at = noted_at - interval '25 hours' where tx_hash = ${paid.txHash}`;
  await follow();
  assert.equal((await row(paid))?.state, 'missing');
  const request = await makeRequest(fixtures.db, fixtures.scope, fixtures.merchant, {
    exactMicro: 4_900_000n,
    startBlocks: {},
  });
  await fixtures.db.sql`
    update requests set created_at = now() - interval '1 hour', start_blocks = '{"31337": 0}' where id = ${request.id}`;
  const unmatched = () => fixtures.visitor.open(`/dashboard/unmatched/${paid.key}`);
  assert.match((await unmatched()).html, /The transaction was never found/);
  assert.ok(!(await unmatched()).html.includes(`value="${request.id}"`), 'not by itself');
  const back = await fixtures.visitor.send(await pageOf(paid), '/put-back');
  assert.match(back.html, /The refund was undone/);
  assert.ok((await unmatched()).html.includes(`value="${request.id}"`), 'it can be attached again');
});

test('a refund’s hash that no endpoint knows → can be replaced by another; one that the chain knows → cannot', async () => {
  const paid = await stray(1_100_000n);
  const mistyped = hash('6');
  await note(await pageOf(paid), paid, { return_tx_hash: mistyped });
  const isNew = await pageOf(paid);
  assert.match(isNew.html, /We cannot find the transaction on the network yet/);
  assert.ok(!isNew.html.includes('id="note"'), 'the network may only be slow');
  await waitedTwoMinutes(paid);
  const unseen = await pageOf(paid);
  assert.match(unseen.html, /We cannot find the transaction on the network yet/);
  assert.match(unseen.html, /<summary>Record another transaction<\/summary>/);
  const same = await note(unseen, paid, { return_tx_hash: mistyped });
  assert.equal(same.status, 409, 'the same one would only wait longer');

  const back = await send(paid.payer.address, 1_100_000n);
  await fixtures.caughtUp();
  const noted = await note(unseen, paid, { return_tx_hash: back });
  assert.match(noted.html, /Refund pending/);
  const { state, return_tx_hash, given_micro } = (await row(paid)) ?? {};
  assert.deepEqual([state, return_tx_hash, given_micro], ['sent', back, '1100000']);
  const acts = (await fixtures.audit()).filter(({ object_id }) => object_id === paid.key);
  assert.deepEqual(
    acts.filter(({ action }) => action === 'payment.returned').map(({ details }) => JSON.parse(details).replaces),
    [undefined, mistyped],
  );

  assert.ok(!(await pageOf(paid)).html.includes('id="note"'), 'it is known now');
  const late = await note(unseen, paid, { return_tx_hash: hash('7') });
  assert.equal(late.status, 409);
  assert.equal((await row(paid))?.return_tx_hash, back);
});

test('If two people replace an unknown hash at once, only one succeeds, and none once the transaction was seen', async () => {
  const paid = await stray(1_300_000n);
  await note(await pageOf(paid), paid, { return_tx_hash: hash('8') });
  await waitedTwoMinutes(paid);
  const key = { chainId: 31337, txHash: paid.txHash, ordinal: 0 };
  const check = async (refundTxHash: string) => {
    const said = { refundTxHash, elsewhere: false };
    const checked = await checkRefund(fixtures.ctx, fixtures.scope, fixtures.merchant.id, key, said);
    assert.ok(checked.fault === null);
    return checked;
  };
  const replace = (checked: Awaited<ReturnType<typeof check>>) =>
    recordRefund(fixtures.ctx, theService, fixtures.scope, fixtures.merchant.id, checked);
  const both = await Promise.all([check(hash('9')), check(hash('a'))]);
  const done = await Promise.all(both.map(replace));
  assert.deepEqual(new Set(done), new Set(['already_refunded', null]));
  const again = await checkRefund(fixtures.ctx, fixtures.scope, fixtures.merchant.id, key, {
    refundTxHash: hash('b'),
    elsewhere: false,
  });
  assert.equal(again.fault, 'already_refunded', 'the new one may be on its way, too');
  await fixtures.db
    .sql`update returns set replaced_at = replaced_at - interval '2 minutes' where tx_hash = ${paid.txHash}`;
  const third = await check(hash('b'));
  await fixtures.db.sql`update returns set given_micro = 1300000 where tx_hash = ${paid.txHash}`;
  assert.equal(await replace(third), 'already_refunded');
  assert.notEqual((await row(paid))?.return_tx_hash, hash('b'));
});

test('A refund that a reorganisation removes is no longer on its way', async () => {
  const paid = await stray(800_000n);
  const back = await send(paid.payer.address, 800_000n);
  await fixtures.caughtUp();
  await note(await pageOf(paid), paid, { return_tx_hash: back });
  assert.equal((await row(paid))?.given_micro, '800000');
  await fixtures.node.reorg(1);
  await follow();
  assert.deepEqual([(await row(paid))?.state, (await row(paid))?.given_micro], ['sent', null]);
});

test('a refund on a chain that does not answer → recorded; it is confirmed once a second endpoint agrees', async () => {
  const paid = await stray(900_000n);
  const back = await send(paid.payer.address, 900_000n);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const page = await pageOf(paid);
  const silent: Server = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  fixtures.node.chain.rpcUrls.push(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`);
  try {
    await note(page, paid, { return_tx_hash: back }); // answered, although that endpoint never answers
    const { state, given_micro } = (await row(paid)) ?? {};
    assert.deepEqual([state, given_micro], ['sent', '900000'], 'seen by one, confirmed by none');
  } finally {
    fixtures.node.chain.rpcUrls.pop();
    silent.closeAllConnections();
    silent.close();
  }
  await follow();
  assert.equal((await row(paid))?.state, 'confirmed');
});

test('Two endpoints that report other transfers of one block, or of which one is far behind → nothing is confirmed', async () => {
  const paid = await stray(950_000n);
  const back = await send(paid.payer.address, 950_000n);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  const page = await pageOf(paid);
  const second = await secondEndpoint();
  const [honest = ''] = fixtures.node.chain.rpcUrls;
  Object.assign(second.endpoint, { target: honest, mode: 'empties' });
  fixtures.node.chain.rpcUrls.push(second.url);
  try {
    await note(page, paid, { return_tx_hash: back });
    assert.equal((await row(paid))?.state, 'sent');
    for (const mode of ['empties', 'behind'] as const) {
      second.endpoint.mode = mode;
      await follow();
      assert.equal((await row(paid))?.state, 'sent', mode);
    }
    second.endpoint.mode = 'honest';
    await follow();
    assert.equal((await row(paid))?.state, 'confirmed');
  } finally {
    fixtures.node.chain.rpcUrls.pop();
    await second.stop();
  }
});

test('A refund after a cancelled first one is of the surplus only, if the payment was attached to a request meanwhile', async () => {
  const paid = await stray(1_200_000n);
  await note(await pageOf(paid), paid, { return_tx_hash: hash('4') });
  await fixtures.db.sql`update returns set state = 'missing' where tx_hash = ${paid.txHash}`;
  await fixtures.visitor.send(await pageOf(paid), '/put-back');
  const request = await makeRequest(fixtures.db, fixtures.scope, fixtures.merchant, {
    exactMicro: 1_100_000n,
    startBlocks: {},
  });
  await fixtures.db.sql`
    update requests set created_at = now() - interval '1 hour', start_blocks = '{"31337": 0}' where id = ${request.id}`;
  const attach = {
    chainId: 31337,
    txHash: paid.txHash,
    ordinal: 0,
    accountId: fixtures.merchant.id,
    requestId: request.id,
  };
  const attached = await attachUnmatched(fixtures.ctx, theService, fixtures.scope, attach);
  assert.equal(attached.kind, 'counted');
  await fixtures.turn();
  await note(await pageOf(paid), paid, { return_tx_hash: hash('5') });
  const surplus = 1_200_000n - BigInt(request.usdc_micro);
  assert.deepEqual([(await row(paid))?.request_id, (await row(paid))?.usdc_micro], [request.id, surplus.toString()]);
});

test('a merchant opens a refund’s page too often → the page says so, and no endpoint is queried', async (t) => {
  const paid = await stray(4_300_000n);
  const look = () => fixtures.visitor.open(`/dashboard/give-back/${paid.key}`);
  // A busy machine opens fewer pages in a minute than are allowed, so the minute stands still.
  const now = fixtures.clock.now();
  const still = t.mock.method(fixtures.clock, 'now', () => now);
  let asked = 0;
  // The limit of pages says something else.
  while (!(await look()).html.includes('Too many attempts')) assert.ok(++asked <= 150);
  still.mock.restore();
  fixtures.clock.forward(60_000);
  assert.equal((await look()).status, 200);
});

test('A refund in a token that was removed from CHAINS_FILE → its page still offers it, records it and follows it', async () => {
  const { chain } = fixtures.node;
  const [usdc] = chain.tokens;
  assert.ok(usdc);
  const paid = await stray(3_300_000n);
  const back = await send(paid.payer.address, 3_300_000n);
  try {
    chain.tokens = [{ symbol: 'USDX', address: `0x${'6f'.repeat(20)}` }];
    const page = await pageOf(paid);
    assert.equal(page.status, 200);
    assert.match(page.html, /exactly this amount of USDC on/, 'the token names itself');
    assert.match((await note(page, paid, { return_tx_hash: back })).html, /Refund pending/);
  } finally {
    chain.tokens = [usdc];
  }
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await follow();
  assert.equal((await row(paid))?.state, 'confirmed');
});

test('A payment on a network that was removed from CHAINS_FILE → its page says so, and leads to no refund', async () => {
  const paid = await stray(3_400_000n);
  const page = async () => (await fixtures.visitor.open(`/dashboard/unmatched/${paid.key}`)).html;
  const link = `href="/dashboard/give-back/${paid.key}"`;
  assert.ok((await page()).includes(link));
  const { chains } = fixtures.ctx;
  const configured = chains.test;
  try {
    chains.test = [];
    const without = await page();
    assert.match(without, /no longer reads this payment’s network/);
    assert.ok(!without.includes(link));
  } finally {
    chains.test = configured;
  }
});
