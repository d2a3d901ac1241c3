import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { getAddress } from 'viem';
import { theService } from '../../src/audit/write.ts';
import { attachUnmatched, requestRest } from '../../src/payments/unmatched/attach.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer, randomAddress, unmatched } from '../support/fixtures.ts';
import { type DashboardFixtures, dashboardFixtures, openRefund } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';

let fixtures: DashboardFixtures;
before(async () => {
  fixtures = await dashboardFixtures();
  await fixtures.request({ exactMicro: 70_000_000_000n }); // a wallet is watched from its first request on
});
after(() => fixtures.stop());

const hash = (digit: string) => `0x${digit.repeat(64)}`;
const keyFor = (txHash: string) => `31337_${txHash}_0`;

/** A payment to the merchant's wallet that names no request. */
async function stray(usdcMicro: bigint, from = fixtures.node.wallet()): Promise<string> {
  const txHash = await fixtures.node.pay({ from, to: fixtures.merchant.wallet, usdcMicro });
  await fixtures.node.mine(3);
  await fixtures.turn();
  return txHash;
}

/** What the audit log says of an action on a payment. */
const actsOn = async (key: string, wanted: string) =>
  (await fixtures.audit())
    .filter(({ action, object_id }) => action === wanted && object_id === key)
    .map(({ details }) => JSON.parse(details));

/** The requests that a page offers to attach a payment to, which pays them in full. */
const offered = (html: string) =>
  [...(html.split('Ask for the rest</h2>')[0] ?? '').matchAll(/name="request" value="([^"]+)"/g)].map(([, id]) => id);

test('An unmatched payment is shown with its reason, and attached to a request that it pays in full: verified, one event, audited', async () => {
  const [small, large] = [
    await fixtures.request({ exactMicro: 5_900_000n, memo: 'Small' }),
    await fixtures.request({ exactMicro: 900_000_000n, memo: 'Large' }),
  ];
  const txHash = await stray(6_000_000n);
  const list = await fixtures.visitor.open('/dashboard/unmatched');
  assert.match(list.html, new RegExp(`href="/dashboard/unmatched/${keyFor(txHash)}">6\\.00 USDC</a>`));
  assert.match(list.html, /Nothing links it to a request/);
  assert.match((await fixtures.visitor.open('/dashboard')).html, /payments? needs? your decision/);

  const page = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(txHash)}`);
  assert.equal(offered(page.html)[0], small.id);
  assert.ok(!offered(page.html).includes(large.id), 'not the one that needs more');
  const tooLittle = await fixtures.visitor.send(page, '/attach', { request: large.id });
  assert.equal(tooLittle.status, 409);
  assert.match(tooLittle.html, /It is not enough: 894\.00 USDC would still be missing/);
  assert.equal((await fixtures.read(large)).proof_status, 'none');

  const done = await fixtures.visitor.send(page, '/attach');
  assert.match(done.html, /The payment was attached/);
  await fixtures.turn();
  assert.equal((await fixtures.read(small)).proof_status, 'verified');
  assert.equal((await fixtures.events(small)).length, 1);
  assert.deepEqual(await actsOn(keyFor(txHash), 'payment.attached'), [{ request: small.id }]);

  // Back, a second press, and another tab in which the payment is still unmatched.
  const back = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(txHash)}`);
  const again = await fixtures.visitor.send(page, '/attach');
  const elsewhere = await fixtures.visitor.send(page, '/attach', { request: large.id });
  for (const visit of [back, again, elsewhere]) {
    assert.equal(visit.status, 200);
    assert.match(visit.html, /<title>Payment request · €12\.50/);
    assert.match(visit.html, new RegExp(small.id), 'the request that has the payment');
    assert.equal(/used or refunded in the meantime/.test(visit.html), visit === elsewhere);
  }
});

test('A payment that a bridge has minted has no sender: its pages offer no refund, and say how to make one', async () => {
  const { merchant, node, visitor } = fixtures;
  const mint = async (usdcMicro: bigint) => {
    const txHash = await node.fund(merchant.wallet, usdcMicro);
    await node.mine(3);
    await fixtures.turn();
    return visitor.open(`/dashboard/unmatched/31337_${txHash}_1`); // after the log of the minting itself
  };
  const unmatched = await mint(7_777_777n);
  assert.match(unmatched.html, /This payment has no sender on the network/);
  assert.doesNotMatch(unmatched.html, /give-back/);

  const request = await fixtures.request({ exactMicro: 3_100_000n });
  await fixtures.pay(request, { usdcMicro: 2_000_000n });
  await node.mine(3);
  await fixtures.turn();
  const rest = await mint(2_600_000n);
  await visitor.send(rest, '/attach', { request: request.id });
  await fixtures.turn();
  const paid = await visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(paid.html, /Overpaid by 1\.50 USDC/);
  assert.match(paid.html, /This payment has no sender on the network/);
  assert.doesNotMatch(paid.html, /give-back/);

  const short = await fixtures.request({ exactMicro: 40_123_000n });
  const part = await mint(20_000_000n);
  await visitor.send(part, '/rest', { request: short.id });
  await fixtures.db.sql`update requests set expires_at = now() - interval '2 hours' where id = ${short.id}`;
  const ended = await visitor.open(`/dashboard/payments/${short.id}`);
  assert.match(ended.html, /This payment has no sender on the network/);
  assert.doesNotMatch(ended.html, /\/part"/);
});

test('Requests that a payment pays in full are listed by the nearest amount, with the surplus', async () => {
  const near = await fixtures.request({ exactMicro: 2_600_000_000n });
  const far = await fixtures.request({ exactMicro: 1_200_000_000n });
  const page = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(await stray(2_700_000_000n))}`);
  assert.deepEqual(offered(page.html).slice(0, 2), [near.id, far.id]);
  const tooMuch = page.html.match(/Overpaid by [\d.,]+ USDC/g)?.slice(0, 2);
  assert.deepEqual(tooMuch, ['Overpaid by 100.00 USDC', 'Overpaid by 1,500.00 USDC']);
});

test('Late money can be attached to its expired request, which is offered first; a cancelled one never', async () => {
  const request = await fixtures.request({ exactMicro: 8_000_000n });
  await fixtures.request({ exactMicro: 1_000_000n });
  const voided = await fixtures.request({ exactMicro: 2_000_000n });
  await fixtures.db.sql`update requests set status = 'voided', voided_at = now() where id = ${voided.id}`;
  await fixtures.db.sql`update requests set expires_at = now() - interval '2 hours' where id = ${request.id}`;
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const [transfer] = await fixtures.db.sql`select tx_hash from transfers where candidate_request_id = ${request.id}`;
  const page = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(transfer?.tx_hash)}`);
  assert.match(page.html, /It arrived more than 30 minutes after its request had expired/);
  assert.equal(offered(page.html)[0], request.id);
  assert.ok(!offered(page.html).includes(voided.id));
  const refused = await fixtures.visitor.send(page, '/attach', { request: voided.id });
  assert.match(refused.html, /The request no longer accepts this payment/);
  await fixtures.visitor.send(page, '/attach', { request: request.id });
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
});

test('The page of an unmatched payment links to the request that it was probably meant for, unless that is another merchant’s', async () => {
  const { db, scope, merchant, visitor } = fixtures;
  const request = await fixtures.request({ exactMicro: 4_400_000n });
  const elsewhere = await makeRequest(db, scope, await makeMerchant(db, scope));
  const linkOn = async (candidate: string) => {
    const columns = { ...unmatched('already_paid'), candidate_request_id: candidate };
    const page = await visitor.open(
      `/dashboard/unmatched/${keyFor(await makeTransfer(db.sql, scope, merchant, columns))}`,
    );
    assert.equal(page.status, 200);
    return /<a href="([^"]+)">See the request it was probably meant for<\/a>/.exec(page.html)?.[1];
  };
  assert.equal(await linkOn(request.id), `/dashboard/payments/${request.id}`);
  assert.equal(await linkOn(elsewhere.id), undefined);
});

test('A second payment is refunded: prepared to its payer, recorded by its transaction, audited, and never attached after', async () => {
  const request = await fixtures.request({ exactMicro: 4_000_000n });
  const open = await fixtures.request({ exactMicro: 3_000_000n });
  await fixtures.pay(request);
  await fixtures.turn();
  const from = fixtures.node.wallet();
  await fixtures.pay(request, { from });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const detail = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(detail.html, /this is a second one/);
  const [transfer] = await fixtures.db.sql`select tx_hash from transfers where candidate_request_id = ${request.id}`;
  const key = keyFor(transfer?.tx_hash);
  const attachable = await fixtures.visitor.open(`/dashboard/unmatched/${key}`);

  const before = await fixtures.visitor.open(`/dashboard/give-back/${key}`);
  assert.match(before.html, /Was it sent from an exchange\?/);
  assert.ok(!before.html.includes('data-refund='), 'no transfer is offered before the payment is taken');
  const page = await openRefund(fixtures.visitor, key);
  const order = JSON.parse(page.html.match(/data-refund="([^"]+)"/)?.[1]?.replaceAll('&quot;', '"') ?? '');
  assert.equal(order.from, getAddress(fixtures.merchant.wallet));
  assert.equal(order.token, fixtures.node.chain.tokens[0]?.address);
  assert.equal(
    order.data,
    `0xa9059cbb${from.address.slice(2).padStart(64, '0')}${BigInt(request.usdc_micro).toString(16).padStart(64, '0')}`,
  );
  for (const wrong of ['', 'abc', transfer?.tx_hash]) {
    const refused = await fixtures.visitor.send(page, key, { return_tx_hash: wrong });
    assert.equal(refused.status, 409);
    assert.match(refused.html, /This is not a transaction hash/);
  }
  const noted = await fixtures.visitor.send(page, key, { return_tx_hash: hash('A').replace('0X', '0x') });
  assert.match(noted.html, /The refund was recorded/);
  assert.match(noted.html, /Refund pending/);
  assert.deepEqual(await actsOn(key, 'payment.returned'), [
    { request: null, usdc_micro: request.usdc_micro, transaction: hash('a') },
  ]);

  assert.match((await fixtures.visitor.open(`/dashboard/give-back/${key}`)).html, new RegExp(hash('a')));
  const twice = await fixtures.visitor.send(page, key, { return_tx_hash: hash('a') });
  assert.match(twice.html, /Already recorded/);
  const late = await fixtures.visitor.send(attachable, '/attach', { request: open.id });
  assert.match(late.html, /used or refunded in the meantime/);
  assert.equal((await fixtures.read(open)).proof_status, 'none');
});

test('Only the surplus of an overpayment is refunded', async () => {
  const request = await fixtures.request({ exactMicro: 5_000_000n });
  const { txHash, from } = await fixtures.pay(request, { usdcMicro: 7_500_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const over = 7_500_000n - BigInt(request.usdc_micro);
  const detail = await fixtures.visitor.open(`/dashboard/payments/${request.id}`);
  assert.match(detail.html, /Overpaid by/);
  const page = await openRefund(fixtures.visitor, keyFor(txHash));
  const order = JSON.parse(page.html.match(/data-refund="([^"]+)"/)?.[1]?.replaceAll('&quot;', '"') ?? '');
  assert.ok(order.data.endsWith(over.toString(16).padStart(64, '0')));
  assert.ok(page.html.includes(getAddress(from.address)));
  const noted = await fixtures.visitor.send(page, keyFor(txHash), { return_tx_hash: hash('c') });
  assert.match(noted.html, /We cannot find the transaction on the network yet/);
  const [row] = await fixtures.db.sql`select * from returns where tx_hash = ${txHash}`;
  assert.deepEqual([row?.request_id, row?.usdc_micro, row?.to_address], [request.id, over.toString(), from.address]);
});

test('a request paid exactly → nothing to refund', async () => {
  const request = await fixtures.request({ exactMicro: 5_000_000n });
  const { txHash } = await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  assert.equal((await fixtures.visitor.open(`/dashboard/give-back/${keyFor(txHash)}`)).status, 404);
});

test('A payer who paid several merchants → the page warns that it may be an exchange', async () => {
  const from = fixtures.node.wallet();
  const txHash = await stray(1_110_000n, from);
  const others = [await makeOnboarded(fixtures.ctx, fixtures.scope), await makeOnboarded(fixtures.ctx, fixtures.scope)];
  for (const [i, other] of others.entries()) {
    await makeTransfer(fixtures.db.sql, fixtures.scope, other, {
      ...unmatched('no_match'),
      from_address: from.address,
    });
    const page = await fixtures.visitor.open(`/dashboard/give-back/${keyFor(txHash)}`);
    assert.equal(/This looks like an exchange/.test(page.html), i === 1, `${i + 2} merchants`);
  }
});

test('a token that is not accepted → no page or file takes what it counts in for USDC', async () => {
  const columns = { value: `7${'0'.repeat(60)}`, token_address: randomAddress(), ...unmatched('wrong_token') };
  const txHash = await makeTransfer(fixtures.db.sql, fixtures.scope, fixtures.merchant, columns);
  const path = `/dashboard/unmatched/${keyFor(txHash)}`;
  const [list, page, csv] = await Promise.all(
    ['/dashboard/unmatched', path, '/dashboard/unmatched.csv'].map((one) => fixtures.visitor.open(one)),
  );
  assert.match(list?.html ?? '', new RegExp(`<a href="${path}">Wrong token</a>`));
  assert.match(page?.html ?? '', /<h1[^>]*>Wrong token</);
  for (const { html } of [list, page].filter((one) => one !== undefined)) assert.doesNotMatch(html, /7,000,000/);
  const [header = '', ...lines] = (csv?.html ?? '').replace(/^\uFEFF/, '').split('\r\n');
  const cells = lines.find((line) => line.includes(txHash))?.split(',') ?? [];
  assert.equal(cells[header.split(',').indexOf('usdc')], '');
});

for (const reason of ['self_transfer', 'wrong_token'] as const) {
  test(`a payment that is none (${reason}) → cannot be attached, whole or as a part: no merchant pays a request to itself`, async () => {
    const request = await fixtures.request({ exactMicro: 3_330_000n });
    const { merchant } = fixtures;
    const columns = { value: '3330000', ...unmatched(reason) };
    const sender = reason === 'self_transfer' ? { from_address: merchant.wallet } : {};
    const txHash = await makeTransfer(fixtures.db.sql, fixtures.scope, merchant, { ...columns, ...sender });
    const attach = { chainId: 31337, txHash, ordinal: 0, accountId: merchant.id, requestId: request.id };
    for (const act of [attachUnmatched, requestRest]) {
      assert.deepEqual(await act(fixtures.ctx, theService, fixtures.scope, attach), { kind: 'wrong_token' });
    }
    assert.equal((await fixtures.read(request)).proof_status, 'none');
    const page = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(txHash)}`);
    assert.doesNotMatch(page.html, /\/attach"|Attach to a request/);
  });
}

test('payments of another merchant, partner or mode → cannot be seen, attached or refunded', async () => {
  const txHash = await stray(2_220_000n);
  const foreign = await makePartner(fixtures.db);
  const scopes = [fixtures.scope, foreign.test, foreign.live];
  const own = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(txHash)}`);
  const action = `/dashboard/give-back/${keyFor(txHash)}`;
  const acts = ['', '/take', '/put-back', '/part'];
  const give = { ...own, forms: acts.map((act) => ({ action: action + act, fields: {} })) };
  for (const scope of scopes) {
    const other = await fixtures.signedIn(scope, await makeMerchant(fixtures.db, scope));
    assert.equal((await other.open(`/dashboard/unmatched/${keyFor(txHash)}`)).status, 404);
    assert.equal((await other.open(`/dashboard/give-back/${keyFor(txHash)}`)).status, 404);
    for (const act of acts) {
      const { status } = await other.send(give, action + act, { return_tx_hash: hash('d') });
      assert.equal(status, 404, act);
    }
    assert.ok(!(await other.open('/dashboard/unmatched.csv')).html.includes(txHash));
    assert.ok(!(await other.open('/dashboard/unmatched')).html.includes(txHash));
  }
  const neighbour = await makeMerchant(fixtures.db, fixtures.scope);
  const theirs = await makeRequest(fixtures.db, fixtures.scope, neighbour, { exactMicro: 1_000_000n });
  const mine = await fixtures.request({ exactMicro: 1_000_000n });
  const page = await fixtures.visitor.open(`/dashboard/unmatched/${keyFor(txHash)}`);
  assert.ok(offered(page.html).includes(mine.id));
  assert.equal(
    (await fixtures.visitor.send(page, '/attach', { request: theirs.id })).status,
    409,
    'nor to their requests',
  );
  // Their wallet may have been this merchant's before.
  await fixtures.db.sql`update requests set wallet_address = ${fixtures.merchant.wallet} where id = ${theirs.id}`;
  assert.equal((await fixtures.visitor.send(page, '/attach', { request: theirs.id })).status, 409);
  assert.equal((await fixtures.read(theirs)).proof_status, 'none');
  assert.equal(own.status, 200);
  assert.ok((await fixtures.visitor.open('/dashboard/unmatched.csv')).html.includes(txHash));
  const [note] = await fixtures.db.sql`select from returns where tx_hash = ${txHash}`;
  assert.equal(note, undefined);
});
