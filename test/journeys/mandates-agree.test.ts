import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { planCommands } from '../../src/cli/plans.ts';
import { chargeDue } from '../../src/plans/charge.ts';
import { planPageUrl } from '../../src/plans/link.ts';
import { setRate } from '../support/fixtures.ts';
import { type AgreeFixtures, type Answer, agreeFixtures, signJson } from '../support/payments/agree-fixtures.ts';

const never = new AbortController().signal;

let fixtures: AgreeFixtures;
before(async () => {
  fixtures = await agreeFixtures();
});
after(() => fixtures?.stop());
/** A client's posts per minute are limited, so each test begins in a later minute. */
beforeEach(() => fixtures.forward(61_000));

test('A customer signs the terms and an allowance without a fee → charged on the date, and the page shows both', async () => {
  const plan = await fixtures.plan();
  const before = await fixtures.open(plan);
  assert.equal(before.status, 200);
  for (const text of ['Agree to automatic charges', '12.01 USDC', '168.14 USDC', 'Piano lessons', 'How to stop']) {
    assert.ok(before.html.includes(text), text);
  }
  assert.match(before.html, /<option value="1">\s*for 1 charge\s*</);
  const payer = await fixtures.payer(500_000_000n);
  const { step, answer } = await fixtures.agreeByPage(plan, payer);
  assert.equal(step.step, 'permit');
  assert.equal(step.value, String(12_010_000n * 12n));
  assert.deepEqual(answer, { status: 200, done: 'agreed' });
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.payer, mandate.allowed_charges], ['active', payer.address, 12]);
  const acts = await fixtures.db.sql`
    select actor_kind, details::text as details from audit_log
    where object_id = ${plan.id} and action = 'mandate.agreed'`;
  const details = JSON.stringify({ wallet: payer.address, usdc_micro: mandate.cap_micro });
  assert.deepEqual([...acts], [{ actor_kind: 'service', details }]);
  await fixtures.turn();
  assert.equal(await fixtures.balance(payer.address), 488_000_000n);
  const page = await fixtures.open(plan);
  for (const text of [
    'Charged automatically',
    'keep enough USDC in it',
    'Stop automatic charges',
    'Receipt',
    payer.address,
  ]) {
    assert.ok(page.html.includes(text), text);
  }
});

test('A charge from before the agreement → the page asks to pay it by its link, and says which charges are automatic', async () => {
  const { ctx } = fixtures;
  const plan = await fixtures.plan({ every: 1, period: 'day' });
  assert.match((await fixtures.open(plan)).html, /First charge/);
  await chargeDue(ctx, never);
  const before = (await fixtures.open(plan)).html;
  assert.match(before, /Next charge/);
  assert.doesNotMatch(before, /First charge/, 'one was made already');
  const payer = await fixtures.payer(500_000_000n);
  assert.deepEqual((await fixtures.agreeByPage(plan, payer)).answer, { status: 200, done: 'agreed' });
  const { html } = await fixtures.open(plan);
  assert.match(html, /A charge is still open/);
  assert.match(html, /Open\s+· <a/);
  assert.doesNotMatch(html, /You only need to keep enough USDC in it/);

  await fixtures.forward(24 * 3_600_000);
  await chargeDue(ctx, never);
  const [first, second] = await fixtures.requests(plan);
  const both = (await fixtures.open(plan)).html;
  assert.match(both, new RegExp(`Will be charged automatically\\s+· <a href="[^"]*${second?.id}">Pay</a>`));
  assert.match(both, new RegExp(`Open\\s+· <a href="[^"]*${first?.id}">Pay</a>`));
});

/** Takes any signature, as a contract wallet whose owners have approved. */
const acceptingWallet = '0x631626ba7e60e01b60005260206000f3';
/** Refuses every call. */
const refusing = '0x60006000fd';
const setCode = (address: string, code: string) => fixtures.rpc('anvil_setCode', [address, code]);

test('Terms that were changed on their way, of another plan, or replayed after the merchant changed them → nothing', async () => {
  const plan = await fixtures.plan();
  const other = await fixtures.plan({ name: 'Other lessons' });
  const payer = await fixtures.payer(500_000_000n);
  const { signed } = await fixtures.sign(plan, payer);
  const [body = '', mac = ''] = signed.offer.split('.');
  const carried = JSON.parse(Buffer.from(body, 'base64url').toString());
  for (const change of [{ cap: '1' }, { end: carried.end + 1 }, { charges: null }, { expires: carried.expires + 1 }]) {
    const text = Buffer.from(JSON.stringify({ ...carried, ...change })).toString('base64url');
    const answer = await fixtures.post(plan, 'agree', { ...signed, offer: `${text}.${mac}` });
    assert.deepEqual(answer, { status: 409, fault: 'stale' }, JSON.stringify(change));
  }
  assert.equal((await fixtures.post(other, 'agree', signed)).fault, 'stale');
  for (const offer of ['', 'x', `${body}.`, `.${mac}`, `${body}.${'0'.repeat(32)}`, 'bnVsbA.00']) {
    assert.equal((await fixtures.post(plan, 'agree', { ...signed, offer })).fault, 'stale', offer);
  }
  await fixtures.db.sql`update plans set fiat_int = 1100 where id = ${plan.id}`;
  assert.equal((await fixtures.post(plan, 'allowance', signed)).fault, 'stale');
  await fixtures.db.sql`update plans set fiat_int = 1200 where id = ${plan.id}`;
  assert.equal((await fixtures.post(plan, 'allowance', signed)).step, 'permit');
  fixtures.clock.forward(31 * 60_000);
  assert.equal((await fixtures.post(plan, 'allowance', signed)).fault, 'stale');
  fixtures.clock.forward(-31 * 60_000);
  const { sql } = fixtures.db;
  const switches = [
    (off: boolean) => sql`update merchants set disabled_by_operator = ${off} where id = ${fixtures.merchant.id}`,
    (off: boolean) =>
      sql`update partners set disabled_at = ${off ? new Date() : null} where id = ${fixtures.partner.id}`,
  ];
  for (const set of switches) {
    await set(true);
    const { fault } = await fixtures.post(plan, 'agree', signed);
    await set(false);
    assert.equal(fault, 'stale');
  }
  await sql`
    update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null where id = ${plan.id}`;
  assert.equal((await fixtures.post(plan, 'agree', signed)).fault, 'stale');
  assert.deepEqual(await fixtures.mandatesOf(plan), await fixtures.mandatesOf(other));
});

/** The most that one charge may take, as the wallet is asked to sign it. */
const capIn = (offered: Answer) => JSON.parse(String(offered.typed)).message.maxAmount;

test('The merchant raises the maximum, or the rate moves, while the page is open → nobody signs more than it shows', async () => {
  const { merchant } = await fixtures.merchantIn('EUR');
  const plan = await fixtures.plan({ currency: 'EUR' }, { scope: fixtures.scope, merchant });
  const { address } = await fixtures.payer(1n);
  const shown = await fixtures.shownOn(plan);
  const cap = 13_053_479n; // 12.00 at 0.92, rounded up, and one cent
  assert.equal(capIn(await fixtures.offer(plan, address, { shown })), String(cap));
  await fixtures.db.sql`update plans set cap_fiat_int = 1200000 where id = ${plan.id}`;
  assert.deepEqual(await fixtures.offer(plan, address, { shown }), { status: 409, fault: 'stale' });
  assert.ok(BigInt(capIn(await fixtures.offer(plan, address))) > 900n * cap, 'to whoever reads it again');
  await fixtures.db.sql`update plans set cap_fiat_int = 1200 where id = ${plan.id}`;
  const wallet = `0x${'cd'.repeat(20)}`;
  const [before] = await fixtures.db.sql`select wallet_address from merchants where id = ${merchant.id}`;
  await fixtures.db.sql`update merchants set wallet_address = ${wallet} where id = ${merchant.id}`;
  assert.equal((await fixtures.offer(plan, address, { shown })).fault, 'stale');
  await fixtures.db.sql`update merchants set wallet_address = ${before?.wallet_address} where id = ${merchant.id}`;
  for (const [rate, offered] of [
    ['0.93', '12913226'],
    ['0.9195', String(cap)],
    ['0.91', undefined],
  ] as const) {
    await setRate(fixtures.ctx.db, 'EUR', rate);
    const answer = await fixtures.offer(plan, address, { shown });
    assert.equal(answer.typed && capIn(answer), offered, rate);
    assert.equal(answer.fault, offered === undefined ? 'stale' : undefined, rate);
  }
  await setRate(fixtures.ctx.db, 'EUR', '0.92');
  for (const malformed of ['', ' ', `${shown}0`.repeat(9), shown.replace(/\d+$/, ''), `${shown}.5`, `${shown}\n`]) {
    assert.equal((await fixtures.offer(plan, address, { shown: malformed })).fault, 'stale', malformed);
  }
});

test('A signature of another wallet, or of nobody → refused; who signs for itself pays', async () => {
  const plan = await fixtures.plan();
  const payer = await fixtures.payer(500_000_000n);
  const stranger = await fixtures.payer(1n);
  const { offered } = await fixtures.sign(plan, payer);
  const foreign = await signJson(stranger.privateKey, offered.typed);
  for (const signature of [foreign, '0x', 'no hex', `0x${'00'.repeat(65)}`, `0x${'11'.repeat(65)}`]) {
    const answer = await fixtures.post(plan, 'agree', { offer: String(offered.offer), signature });
    assert.equal(answer.fault, 'bad_signature', signature);
  }
  // The holder of the link may agree with another wallet than the customer's: that wallet pays.
  assert.equal((await fixtures.agreeByPage(plan, payer)).answer.done, 'agreed');
  const second = await fixtures.payer(500_000_000n);
  assert.equal((await fixtures.agreeByPage(plan, second)).answer.done, 'agreed');
  const mandates = await fixtures.mandatesOf(plan);
  assert.deepEqual(
    mandates.map(({ payer: address, state }) => [address, state]),
    [
      [payer.address, 'replaced'],
      [second.address, 'active'],
    ],
  );
});

test('agreeing with the merchant’s own wallet, the token, the contract or a malformed address → refused', async () => {
  const plan = await fixtures.plan();
  const zero = `0x${'00'.repeat(20)}`;
  for (const payer of [fixtures.merchant.wallet, fixtures.token, fixtures.contract, zero, '0x12', '']) {
    assert.equal((await fixtures.offer(plan, payer)).fault, 'payer', payer);
  }
  const payer = (await fixtures.payer(1n)).address;
  for (const charges of ['0', '', '1001', '-1', 'many']) {
    assert.equal((await fixtures.offer(plan, payer, { charges })).fault, 'stale', charges);
  }
  assert.equal((await fixtures.offer(plan, payer, { chain_id: '1' })).fault, 'none');
  assert.equal((await fixtures.offer(plan, payer, { token: fixtures.contract })).fault, 'none');
  assert.ok((await fixtures.offer(plan, payer)).offer);
});

test('another plan’s link, a wrong token, or another site’s form → nothing is shown or changed', async () => {
  const plan = await fixtures.plan();
  const other = await fixtures.plan();
  const token = fixtures.urlOf(other).split('/').at(-1) ?? '';
  const wrong = fixtures.urlOf(plan).replace(/[^/]+$/, token);
  assert.equal((await fetch(wrong)).status, 404);
  assert.equal((await fetch(wrong.slice(0, -3))).status, 404);
  assert.equal((await fixtures.post(plan, 'stop', {}, wrong)).status, 404);
  const headers = { origin: 'https://elsewhere.example' };
  const foreign = await fetch(`${fixtures.urlOf(plan)}/stop`, { method: 'POST', headers, body: new URLSearchParams() });
  assert.equal(foreign.status, 403);
});

test('Agreed twice at once, and brought again → stored once; a stopped agreement is not brought back by its replay', async () => {
  const plan = await fixtures.plan();
  const payer = await fixtures.payer(500_000_000n);
  const { signed } = await fixtures.sign(plan, payer);
  const step = await fixtures.post(plan, 'allowance', signed);
  const all = { ...signed, ...(await fixtures.permit(payer, step)) };
  const answers = await Promise.all([1, 2, 3].map(() => fixtures.post(plan, 'agree', all)));
  assert.deepEqual(
    answers.map(({ done }) => done),
    ['agreed', 'agreed', 'agreed'],
  );
  assert.equal((await fixtures.mandatesOf(plan)).length, 1);
  assert.equal((await fixtures.post(plan, 'stop', {})).status, 303);
  assert.equal((await fixtures.post(plan, 'agree', all)).fault, 'stale');
  const [mandate] = await fixtures.mandatesOf(plan);
  assert.deepEqual([mandate?.state, mandate?.end_reason], ['stopped', 'stopped_by_customer']);
});

test('Brought again once its permit was used → agreed while it is in use, and not once it is stopped', async () => {
  const plan = await fixtures.plan();
  const payer = await fixtures.payer(500_000_000n);
  const { signed, permitted } = await fixtures.agreeByPage(plan, payer);
  await fixtures.turn();
  assert.deepEqual(
    (await fixtures.collections(plan)).map(({ state }) => state),
    ['charged'],
  );
  const again = () => fixtures.post(plan, 'agree', { ...signed, ...permitted });
  assert.equal((await again()).done, 'agreed');
  assert.equal((await fixtures.post(plan, 'stop', {})).status, 303);
  const { status, done } = await again();
  assert.deepEqual([status, done], [409, undefined]);
  const mandates = await fixtures.mandatesOf(plan);
  assert.deepEqual(
    mandates.map(({ state }) => state),
    ['stopped'],
  );
});

test('With a second plan of the same payer the allowance is for the sum; without limit only where the payer chose it', async () => {
  const [first, second] = [await fixtures.plan(), await fixtures.plan({ fiatInt: 500, maxCharges: 3 })];
  const payer = await fixtures.payer(500_000_000n);
  assert.equal((await fixtures.agreeByPage(first, payer)).step.value, String(12n * 12_010_000n));
  const both = await fixtures.agreeByPage(second, payer, '3');
  assert.equal(both.step.value, String(12n * 12_010_000n + 3n * 5_010_000n));
  const permits = await fixtures.db.sql<{ value: string }[]>`select value from permits where payer = ${payer.address}`;
  assert.deepEqual(
    permits.map(({ value }) => value),
    [both.step.value],
  );
  // Somebody who has not signed the agreement does not learn the sum.
  const { offered } = await fixtures.sign(first, payer);
  const unsigned = { offer: String(offered.offer), signature: `0x${'11'.repeat(65)}` };
  assert.deepEqual(await fixtures.post(first, 'allowance', unsigned), { status: 409, fault: 'bad_signature' });
  const limitless = await fixtures.agreeByPage(first, payer, 'limitless');
  assert.equal(limitless.step.value, String(2n ** 256n - 1n));
  assert.equal(limitless.step.limitless, true);
  // An allowance that suffices is not requested again, even a minute later: one signature.
  await fixtures.db.sql`update permits set deadline = deadline - 60 where payer = ${payer.address}`;
  assert.deepEqual((await fixtures.agreeByPage(second, payer, '3')).step, { status: 200, step: 'enough' });
});

test('The payer has stopped another plan, or pays others elsewhere → the allowance that is asked for leaves them out', async () => {
  const payer = await fixtures.payer(500_000_000n);
  const others = [await fixtures.plan(), await fixtures.plan(), await fixtures.plan()] as const;
  for (const plan of others) assert.equal((await fixtures.agreeByPage(plan, payer)).answer.done, 'agreed');
  const [stopped, elsewhere, otherwise] = others;
  await fixtures.post(stopped, 'stop', {});
  await fixtures.db.sql`update mandates set chain_id = 1 where plan_id = ${elsewhere.id}`;
  await fixtures.db.sql`update mandates set token_address = ${payer.address} where plan_id = ${otherwise.id}`;
  await fixtures.db.sql`delete from permits where payer = ${payer.address}`;
  const { step } = await fixtures.agreeByPage(await fixtures.plan({ fiatInt: 500 }), payer);
  assert.equal(step.value, String(12n * 5_010_000n));
});

test('A permit with another sum, nonce or deadline than asked for, or of another key → refused', async () => {
  const plan = await fixtures.plan();
  const payer = await fixtures.payer(500_000_000n);
  const stranger = await fixtures.payer(1n);
  const { signed } = await fixtures.sign(plan, payer);
  const step = await fixtures.post(plan, 'allowance', signed);
  const permit = await fixtures.permit(payer, step);
  for (const [change, fault] of [
    [{ permit_value: String(BigInt(String(step.value)) + 1n) }, 'allowance_changed'],
    [{ permit_nonce: '7' }, 'allowance_changed'],
    [{ permit_deadline: '1' }, 'allowance_changed'],
    [{ permit_deadline: '9'.repeat(30) }, 'allowance_changed'],
    [{ permit_signature: await signJson(stranger.privateKey, step.typed) }, 'permit_refused'],
    [{ permit_signature: `0x${'11'.repeat(65)}` }, 'permit_refused'],
    [{ permit_signature: '' }, 'not_approved'],
  ] as const) {
    const answer = await fixtures.post(plan, 'agree', { ...signed, ...permit, ...change });
    assert.deepEqual(answer, { status: 409, fault }, JSON.stringify(change));
  }
  assert.equal((await fixtures.mandatesOf(plan)).length, 0);
});

test('A contract wallet signs in its own format, or approves by its own transaction → charged', async () => {
  for (const way of ['permit', 'approve'] as const) {
    const plan = await fixtures.plan();
    const payer = await fixtures.payer(500_000_000n);
    await setCode(payer.address, acceptingWallet);
    const { offered } = await fixtures.sign(plan, payer);
    const signed = { offer: String(offered.offer), signature: '0x1271' };
    const step = await fixtures.post(plan, 'allowance', signed);
    const { value, nonce, deadline } = step;
    const numbers = { permit_value: value, permit_nonce: nonce, permit_deadline: deadline } as Record<string, string>;
    if (way === 'approve') {
      assert.equal((await fixtures.post(plan, 'agree', signed)).fault, 'not_approved');
      await fixtures.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000']);
      await fixtures.rpc('anvil_impersonateAccount', [payer.address]);
      const data = step.approve;
      await fixtures.rpc('eth_sendTransaction', [{ from: payer.address, to: fixtures.token, data, gas: '0x30d40' }]);
      await fixtures.node.mine(1);
    }
    const brought = way === 'permit' ? { ...numbers, permit_signature: '0x2612' } : {};
    assert.equal((await fixtures.post(plan, 'agree', { ...signed, ...brought })).done, 'agreed', way);
    await fixtures.turn();
    // Requests of the same amount differ by a few micro units.
    const charged = 500_000_000n - (await fixtures.balance(payer.address));
    assert.ok(charged >= 12_000_000n && charged <= 12_010_000n, way);
  }
});

test('A wallet with EIP-7702 code that refuses: its key signs the agreement, and its permit asks for a transaction', async () => {
  const plan = await fixtures.plan();
  const payer = await fixtures.payer(500_000_000n);
  const delegate = fixtures.node.wallet().address;
  await setCode(delegate, refusing);
  await setCode(payer.address, `0xef0100${delegate.slice(2)}`);
  const { signed } = await fixtures.sign(plan, payer);
  const step = await fixtures.post(plan, 'allowance', signed);
  assert.equal(step.step, 'permit');
  const permit = await fixtures.permit(payer, step);
  assert.equal((await fixtures.post(plan, 'agree', { ...signed, ...permit })).fault, 'permit_refused');
  await fixtures.approve(payer, BigInt(String(step.value)));
  assert.equal((await fixtures.post(plan, 'agree', signed)).done, 'agreed');
});

test('An address without code that has not signed, with a longer signature → not set up on the network', async () => {
  const plan = await fixtures.plan();
  const { offered } = await fixtures.sign(plan, await fixtures.payer(1n));
  const signed = { offer: String(offered.offer), signature: `0x${'12'.repeat(96)}` };
  assert.equal((await fixtures.post(plan, 'agree', signed)).fault, 'not_deployed');
});

test('A plan that is paid by link, has ended, or whose merchant is disabled offers nothing', async () => {
  const payer = await fixtures.payer(1n);
  const asked = (plan: { id: string }) => fixtures.offer(plan, payer.address);
  const byLink = await fixtures.plan();
  await fixtures.db.sql`update plans set collect = 'link' where id = ${byLink.id}`;
  assert.equal((await asked(byLink)).fault, 'none');
  assert.match((await fixtures.open(byLink)).html, /You pay each charge by link/);
  const off = await fixtures.plan();
  const { signed } = await fixtures.sign(off, payer);
  await fixtures.db.sql`update merchants set disabled_by_partner = true where id = ${fixtures.merchant.id}`;
  assert.equal((await asked(off)).fault, 'none');
  assert.match((await fixtures.open(off)).html, /You cannot agree right now/);
  assert.equal((await fixtures.post(off, 'agree', signed)).fault, 'stale', 'nor to what was offered before');
  await fixtures.db.sql`update merchants set disabled_by_partner = false where id = ${fixtures.merchant.id}`;
  assert.ok((await asked(off)).offer);
});

test('sandbox agree › agrees by a link or an id with a test wallet, and says in words why not', async () => {
  const command = planCommands.find(({ name }) => name === 'sandbox agree');
  const { chain, folder } = fixtures.node;
  const { name, tokens, rpcUrls } = chain;
  const entry = { name, tokens, chain_id: 31337, rpc_urls: rpcUrls, finality: [{ confirmations: 2 }] };
  const chains = { test: [entry], live: [{ ...entry, chain_id: 31338 }] };
  writeFileSync(join(folder, 'chains.json'), JSON.stringify(chains));
  const ctx = { ...fixtures.ctx, config: { ...fixtures.ctx.config, dataDir: folder } };
  const run = (word: string) => command?.run(ctx, { words: [word], options: {} });
  const plan = await fixtures.plan();
  const said = (await run(planPageUrl(fixtures.ctx.config, plan.id))) as Record<string, string>;
  assert.equal(said.max_per_charge_usdc, '12.01');
  await fixtures.turn();
  const [charge] = await fixtures.requests(plan);
  assert.equal(charge?.proof_status, 'verified');
  assert.equal(((await run(plan.id)) as Record<string, string>).plan_id, plan.id);
  await fixtures.db.sql`update plans set collect = 'link' where id = ${plan.id}`;
  await assert.rejects(async () => run(plan.id), /There is nothing to agree to/);
  await assert.rejects(async () => run(crypto.randomUUID()), /There is no plan/);
});
