import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData } from 'viem';
import { theService } from '../../src/audit/write.ts';
import { recurringAbi } from '../../src/chain/recurring/contract.ts';
import { readMandateStatus } from '../../src/chain/recurring/state.ts';
import { connectRpc, type Hex } from '../../src/chain/rpc.ts';
import { walletJson } from '../../src/chain/typed-data.ts';
import { localSigner } from '../../src/config/relayer.ts';
import { eraseCustomer } from '../../src/customers/erase.ts';
import { buildServer } from '../../src/http/server.ts';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { byLink } from '../../src/plans/collection-form.ts';
import { endPlan } from '../../src/plans/lifecycle.ts';
import { endOutdated } from '../../src/plans/mandates/outdated.ts';
import { revokeStopped } from '../../src/plans/mandates/revoke.ts';
import { revocationOf, stopByMerchant } from '../../src/plans/mandates/stop.ts';
import type { PlanRow } from '../../src/plans/read.ts';
import { changeTerms } from '../../src/plans/terms.ts';
import { fakeProvider } from '../support/chain/fake-provider.ts';
import { type AgreeFixtures, agreeFixtures, signJson } from '../support/payments/agree-fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
let fixtures: AgreeFixtures;
before(async () => {
  fixtures = await agreeFixtures();
  await fixtures.db.sql`update merchants set email = 'ada@example.com' where id = ${fixtures.merchant.id}`;
});
after(() => fixtures?.stop());
/** A client's posts per minute are limited, so each test begins in a later minute. */
beforeEach(() => fixtures.forward(61_000));

/** A plan whose customer has agreed, with a new e-mail address. */
async function agreed() {
  const address = `${crypto.randomUUID()}@example.com`;
  const plan = await fixtures.plan({ customerEmail: address });
  const payer = await fixtures.payer(500_000_000n);
  assert.equal((await fixtures.agreeByPage(plan, payer)).answer.done, 'agreed');
  return { plan, payer, address, mails: async () => (await fixtures.mails(address)).map(({ subject }) => subject) };
}

const standingOf = async (plan: { id: string }) => {
  const { state, end_reason } = await fixtures.mandateOf(plan);
  return [state, end_reason];
};
const onChain = async (plan: { id: string }) => {
  const { hash, contract_address } = await fixtures.mandateOf(plan);
  const rpc = connectRpc(fixtures.chain.rpcUrls[0] ?? '');
  return (await readMandateStatus(rpc, contract_address, `0x${hash.toString('hex')}`)).revoked;
};
const placeOf = (plan: PlanRow) => ({ scope: fixtures.scope, accountId: plan.account_id, id: plan.id });
/** Runs the loop that revokes, and the relayer's, until the chain has decided. */
async function revoke(): Promise<void> {
  await fixtures.follow();
  await revokeStopped(fixtures.ctx, running);
  await fixtures.follow();
  await fixtures.node.mine(3);
  await fixtures.follow();
  await fixtures.forward(61_000);
  await revokeStopped(fixtures.ctx, running);
}

test('A link that says what was not done → its page says nothing of it; outside a sandbox, nothing of a charge made due', async () => {
  const { plan } = await agreed();
  const production = await buildServer({ ...fixtures.ctx, sandbox: null });
  const origin = await production.listen({ host: '127.0.0.1', port: 0 });
  const said = async (done: string) => {
    const page = await fetch(`${origin}${new URL(fixtures.urlOf(plan)).pathname}?done=${done}`);
    const html = await page.text();
    assert.equal(page.status, 200, html);
    return /<div role="status">.*?<\/div>/s.exec(html)?.[0] ?? null;
  };
  try {
    assert.equal(await said('stopped'), null);
    assert.equal(await said('due'), null);
    assert.match((await said('agreed')) ?? '', /You have agreed/);
    await fixtures.post(plan, 'stop', {});
    assert.match((await said('stopped')) ?? '', /Automatic charges are stopped/);
    for (const done of ['agreed', 'raised']) assert.equal(await said(done), null);
  } finally {
    await production.close();
  }
});

test('Stopped by the link alone → at once in the service, mailed to both, and revoked on the chain', async () => {
  const { plan, payer, mails } = await agreed();
  const stopped = await fixtures.post(plan, 'stop', {});
  assert.equal(stopped.status, 303);
  assert.deepEqual(await standingOf(plan), ['stopped', 'stopped_by_customer']);
  await fixtures.turn();
  assert.equal(await fixtures.balance(payer.address), 500_000_000n);
  const subjects = await mails();
  assert.ok(subjects.includes('Test: You agreed to automatic charges by Ada’s Bakery'), subjects.join());
  assert.ok(subjects.includes('Test: Automatic charges by Ada’s Bakery are stopped'), subjects.join());
  const merchant = await fixtures.mails('ada@example.com');
  assert.match(merchant.at(-1)?.body ?? '', /The customer stopped them\./);
  assert.equal(await onChain(plan), false);
  assert.match((await fixtures.open(plan)).html, /We are recording this on the network/);
  await revoke();
  assert.equal(await onChain(plan), true);
  assert.ok((await fixtures.mandateOf(plan)).revoked_at);
  assert.match((await fixtures.open(plan)).html, /This is recorded on the network too/);
  assert.equal((await fixtures.post(plan, 'stop', {})).status, 303); // a second time changes nothing
});

test('Its customer stops it while its merchant ends the plan → both are done, whoever waits for whom', async () => {
  const { plan } = await agreed();
  const { ctx, scope, db } = fixtures;
  const blocked = async () => {
    const [row] = await db.sql<{ n: number }[]>`
      select count(*)::int as n from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
    return row?.n ?? 0;
  };
  const both = await db.transaction(async (tx) => {
    // Whoever mails the customer waits here.
    await tx`select from day_counters where partner_id = ${scope.partnerId} for update`;
    const stopped = stopByMerchant(ctx, theService, placeOf(plan));
    await until(async () => (await blocked()) === 1, 'the stop to wait');
    const ended = endPlan(ctx, theService, placeOf(plan));
    await until(async () => (await blocked()) === 2, 'the end to wait');
    return [stopped, ended];
  });
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.deepEqual(await standingOf(plan), ['stopped', 'stopped_by_merchant']);
});

test('Its merchant changes only the price, on a page that was opened before it became automatic → the agreement goes on', async () => {
  const { ctx, db, scope, merchant, origin } = fixtures;
  const plan = await fixtures.plan();
  const visitor = startVisitor(origin);
  visitor.cookies.set('dashboard-session', await sessionOf(ctx, scope, merchant));
  await db.sql`update plans set collect = 'link', cap_fiat_int = null where id = ${plan.id}`;
  const opened = await visitor.open(`/dashboard/plans/${plan.id}/change`);
  await db.sql`update plans set collect = 'automatic', cap_fiat_int = fiat_int, reserve_percent = 0 where id = ${plan.id}`;
  assert.equal((await fixtures.agreeByPage(plan, await fixtures.payer(500_000_000n))).answer.done, 'agreed');

  const refused = await visitor.send(opened, '/change', { amount: '13.00', cap: '12.50' });
  assert.equal(refused.status, 400);
  const saved = await visitor.send(refused, '/change', { amount: '11.00', cap: '' });
  assert.match(saved.html, /\$11\.00/);
  assert.deepEqual(await standingOf(plan), ['active', null]);
  await visitor.send(await visitor.open(`/dashboard/plans/${plan.id}/change`), '/change', { collect: 'link' });
  assert.deepEqual(await standingOf(plan), ['stopped', 'stopped_by_merchant']);
});

test('Somebody else with the link uses up all posts, from many addresses → the customer can still stop it', async () => {
  const { plan } = await agreed();
  const config = { ...fixtures.ctx.config, trustProxy: ['127.0.0.0/8'] };
  // Limits count by the minute, which must not end meanwhile.
  const now = fixtures.ctx.clock.now();
  const behind = await buildServer({ ...fixtures.ctx, config, clock: { now: () => now } });
  try {
    const origin = await behind.listen({ host: '127.0.0.1', port: 0 });
    const post = async (name: string, from: string) => {
      const url = `${origin}${new URL(fixtures.urlOf(plan)).pathname}/${name}`;
      const body = new URLSearchParams();
      const headers = { 'x-forwarded-for': from };
      return (await fetch(url, { method: 'POST', headers, body, redirect: 'manual' })).status;
    };
    for (let sent = 0; sent < 130; sent++) await post('offer', `2001:db8:7:${sent % 4}::1`);
    assert.equal(await post('offer', '203.0.113.7'), 429);
    assert.equal(await post('stop', '203.0.113.7'), 303);
    assert.deepEqual(await standingOf(plan), ['stopped', 'stopped_by_customer']);
    for (let sent = 0; sent < 20; sent++) await post('stop', `2001:db8:7:${sent}::1`);
    assert.equal(await post('stop', '2001:db8:7:99::1'), 429, 'a network has its own twenty');
    assert.equal(await post('stop', '203.0.113.7'), 303);
  } finally {
    await behind.close();
  }
});

test('Stopped with the wallet’s signature → the signature is stored; an invalid one stops as well', async () => {
  const { plan, payer } = await agreed();
  const mandate = await fixtures.mandateOf(plan);
  const json = walletJson(revocationOf({ ...mandate, chain_id: fixtures.chain.chainId }));
  await fixtures.post(plan, 'stop', { signature: await signJson(payer.privateKey, json) });
  assert.ok((await fixtures.mandateOf(plan)).stop_signature);
  const other = await agreed();
  await fixtures.post(other.plan, 'stop', { signature: `0x${'11'.repeat(65)}` });
  assert.deepEqual(await standingOf(other.plan), ['stopped', 'stopped_by_customer']);
  assert.equal((await fixtures.mandateOf(other.plan)).stop_signature, null);
  // If the charging key is gone, anybody can submit the signature to the chain.
  await fixtures.db.sql`update mandates set executor = ${`0x${'ee'.repeat(20)}`} where plan_id = ${other.plan.id}`;
  await revoke();
  assert.equal(await onChain(plan), true);
  assert.ok((await fixtures.mandateOf(other.plan)).revoke_due_at, 'another node may have the key');
  await fixtures.forward(dayMs);
  await revokeStopped(fixtures.ctx, running);
  assert.equal((await fixtures.mandateOf(other.plan)).revoke_due_at, null);
});

test('The wallet revokes at the contract itself → the page gives the call, and it works without us', async () => {
  const { plan, payer } = await agreed();
  const { html } = await fixtures.open(plan);
  const call = /data-copy="(0x[0-9a-f]+)"/.exec(html)?.[1] as Hex;
  await fixtures.rpc('anvil_setBalance', [payer.address, '0xde0b6b3a7640000']);
  await fixtures.rpc('anvil_impersonateAccount', [payer.address]);
  const transaction = { from: payer.address, to: fixtures.contract, data: call, gas: '0x30d40' };
  await fixtures.rpc('eth_sendTransaction', [transaction]);
  await fixtures.node.mine(1);
  assert.equal(await onChain(plan), true);
  await fixtures.turn();
  assert.deepEqual(await standingOf(plan), ['ended', 'revoked_on_chain']);
});

test('A revocation that is lost, as where every endpoint refuses it → the next one waits, longer each time', async () => {
  const { plan } = await agreed();
  await fixtures.post(plan, 'stop', {});
  const standing = async () => {
    const {
      revoke_relay_id: relayId,
      revoke_failures: failures,
      revoke_due_at: dueAt,
    } = await fixtures.mandateOf(plan);
    const waitS = Math.round(((dueAt?.getTime() ?? 0) - fixtures.ctx.clock.now().getTime()) / 1000);
    return { relayId, failures, waitS };
  };
  const sentBefore: unknown[] = [];
  await fixtures.rpc('evm_setAutomine', [false]);
  for (const failures of [0, 1]) {
    await revokeStopped(fixtures.ctx, running);
    const { relayId, ...sent } = await standing();
    assert.ok(relayId && !sentBefore.includes(relayId), 'a call of its own');
    assert.equal(sent.failures, failures);
    sentBefore.push(relayId);
    await fixtures.db.sql`update relay_transactions set state = 'lost', ended_at = now() where id = ${relayId}`;
    await fixtures.rpc('anvil_dropAllTransactions', []);
    await fixtures.forward(16_000);
    await revokeStopped(fixtures.ctx, running);
    const waits = { relayId: null, failures: failures + 1, waitS: 60 * 2 ** failures };
    assert.deepEqual(await standing(), waits);
    await revokeStopped(fixtures.ctx, running);
    assert.deepEqual(await standing(), waits, 'nothing is sent before');
    await fixtures.forward(waits.waitS * 1000);
  }
  await fixtures.rpc('evm_setAutomine', [true]);
  await revoke();
  assert.equal(await onChain(plan), true);
  assert.equal((await fixtures.mandateOf(plan)).revoke_failures, 0);
});

test('A node that does not know the network, or has no key, leaves a revocation to those that do', async () => {
  const { plan } = await agreed();
  await fixtures.post(plan, 'stop', {});
  const { ctx } = fixtures;
  const elsewhere = { ...ctx, chains: { test: [], live: [] } };
  const without = { ...ctx, config: { ...ctx.config, relayer: { ...ctx.config.relayer, signers: [] } } };
  const others = { ...ctx, config: { ...ctx.config, relayer: { signers: [localSigner(`0x${'53'.repeat(32)}`)] } } };
  const { revoke_due_at: due } = await fixtures.mandateOf(plan);
  for (const node of [without, others]) {
    assert.equal(await revokeStopped(node, running), 0);
    assert.deepEqual((await fixtures.mandateOf(plan)).revoke_due_at, due, 'it is untouched');
  }
  await revokeStopped(elsewhere, running);
  const { revoke_due_at: dueAt } = await fixtures.mandateOf(plan);
  assert.ok(dueAt !== null && dueAt > ctx.clock.now(), 'not at once, since nothing changes so soon');
  await fixtures.forward(dueAt.getTime() - ctx.clock.now().getTime());
  await revoke();
  assert.equal(await onChain(plan), true);
});

test('Another node has a revocation in hand → no second call is sent for it', async () => {
  const { plan } = await agreed();
  await fixtures.post(plan, 'stop', {});
  const { id } = await fixtures.mandateOf(plan);
  const { revoking } = await fixtures.db.transaction(async (tx) => {
    await tx`select from mandates where id = ${id} for update`;
    let isOver = false;
    const revoking = revokeStopped(fixtures.ctx, running).finally(() => {
      isOver = true;
    });
    const isWaiting = async () => {
      const rows = await fixtures.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return rows.length > 0;
    };
    await until(async () => isOver || (await isWaiting()), 'the loop leaves it, or waits');
    return { revoking };
  });
  await revoking;
  assert.equal((await fixtures.db.sql`select from relay_transactions where subject_id = ${id}`).length, 0);
  await revoke();
  assert.equal(await onChain(plan), true);
});

test('One of two endpoints claims that an agreement is revoked already → it is revoked all the same', async () => {
  const { plan } = await agreed();
  await fixtures.post(plan, 'stop', {});
  const { chain, ctx } = fixtures;
  const liar = await fakeProvider(chain.rpcUrls[0] ?? '');
  const hash: Hex = `0x${(await fixtures.mandateOf(plan)).hash.toString('hex')}`;
  const asked = encodeFunctionData({ abi: recurringAbi, functionName: 'statusOf', args: [hash] });
  liar.fake.lie = async ({ method, params: [call] }) =>
    method === 'eth_call' && (call as { data: Hex }).data === asked
      ? { result: `0x${'0'.repeat(127)}1` } // never charged, and revoked
      : null;
  try {
    const both = { ...chain, rpcUrls: [liar.url, ...chain.rpcUrls] };
    await revokeStopped({ ...ctx, chains: { ...ctx.chains, test: [both] } }, running);
  } finally {
    await liar.stop();
  }
  const { revoked_at: revokedAt, revoke_relay_id: relayId } = await fixtures.mandateOf(plan);
  assert.deepEqual([revokedAt, relayId !== null], [null, true], 'its call is sent');
  await fixtures.forward(16_000);
  await revoke();
  assert.equal(await onChain(plan), true);
});

test('The endpoint of one network never answers → revocations that wait for it delay none on another', async () => {
  const [chain] = fixtures.ctx.chains.test;
  assert.ok(chain);
  const silent = await fakeProvider(chain.rpcUrls[0] ?? '');
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  silent.fake.lie = () => {
    wasAsked();
    return over.then(() => 'hang up' as const);
  };
  const far = { ...chain, chainId: 909, rpcUrls: [silent.url] };
  const node = { ...fixtures.ctx, chains: { ...fixtures.ctx.chains, test: [chain, far] } };
  const plans = [await agreed(), await agreed(), await agreed(), await agreed()].map(({ plan }) => plan);
  for (const plan of plans) await stopByMerchant(fixtures.ctx, theService, placeOf(plan));
  const [near, ...waiting] = plans;
  assert.ok(near);
  await fixtures.db.sql`
    update mandates set chain_id = 909, revoke_due_at = revoke_due_at - interval '1 hour'
    where plan_id = any(${waiting.map(({ id }) => id)}::uuid[])`;
  const revoking = revokeStopped(node, running);
  try {
    await asked;
    await until(async () => (await fixtures.mandateOf(near)).revoke_relay_id !== null, 'the other revocation');
    const failures = await Promise.all(waiting.map(async (plan) => (await fixtures.mandateOf(plan)).revoke_failures));
    assert.ok(failures.includes(0), 'some are still waiting for an answer');
  } finally {
    end();
    await revoking;
    await silent.stop();
    await fixtures.db.sql`update mandates set revoke_due_at = null where chain_id = 909`;
  }
});

test('The merchant stops it, or ends the plan → at once, and revoked; another merchant cannot', async () => {
  const { plan } = await agreed();
  const foreign = { ...placeOf(plan), accountId: crypto.randomUUID() };
  await assert.rejects(stopByMerchant(fixtures.ctx, theService, foreign), { code: 'not_found' });
  assert.equal(await stopByMerchant(fixtures.ctx, theService, placeOf(plan)), true);
  assert.deepEqual(await standingOf(plan), ['stopped', 'stopped_by_merchant']);
  const second = await agreed();
  await endPlan(fixtures.ctx, theService, placeOf(second.plan));
  assert.deepEqual(await standingOf(second.plan), ['ended', 'plan_ended']);
  await revoke();
  assert.deepEqual([await onChain(plan), await onChain(second.plan)], [true, true]);
  const ended = (await fixtures.open(second.plan)).html;
  assert.match(ended, /This plan has ended/);
  assert.doesNotMatch(ended, /You pay each charge by link/, 'there are no further charges');
  const [last] = (await fixtures.mails(second.address)).slice(-1);
  assert.match(last?.body ?? '', /Nothing more is charged from your wallet\.\n/);
  assert.doesNotMatch(last?.body ?? '', /further charge/);
});

test('A higher amount than agreed, or another currency → the agreement ends, the customer is asked again, and the page says why', async () => {
  const { plan, payer, mails } = await agreed();
  const automatic = { ...byLink, collect: 'automatic' as const };
  const lower = { ...automatic, fiatInt: 1100, capFiatInt: 1100 };
  await changeTerms(fixtures.ctx, theService, placeOf(plan), lower, 'USD');
  assert.deepEqual(await standingOf(plan), ['active', null]);
  const higher = { ...automatic, fiatInt: 1300, capFiatInt: 1300 };
  await changeTerms(fixtures.ctx, theService, placeOf(plan), higher, 'USD');
  assert.deepEqual(await standingOf(plan), ['ended', 'above_cap']);
  assert.ok((await mails()).includes('Test: Ada’s Bakery asks you to agree again'));
  const { html } = await fixtures.open(plan);
  for (const text of ['A charge is now higher than the agreed maximum.', 'Please agree again', '13.01 USDC']) {
    assert.ok(html.includes(text), text);
  }
  const [changed] = await fixtures.db.sql<PlanRow[]>`select * from plans where id = ${plan.id}`;
  assert.equal((await fixtures.agreeByPage(changed as PlanRow, payer)).answer.done, 'agreed');
  await fixtures.db.sql`update merchants set display_currency = 'EUR' where id = ${plan.account_id}`;
  await changeTerms(fixtures.ctx, theService, placeOf(plan), { ...higher, reservePercent: 10 }, 'EUR');
  assert.deepEqual(await standingOf(plan), ['ended', 'currency_changed']);
  await fixtures.db.sql`update merchants set display_currency = 'USD' where id = ${plan.account_id}`;
  await assert.rejects(changeTerms(fixtures.ctx, theService, placeOf(plan), higher, 'EUR'), {
    code: 'currency_mismatch',
  });
});

test('The merchant now uses another wallet, or the time is over → ended by the loop, and asked again', async () => {
  const { plan, mails } = await agreed();
  const before = fixtures.merchant.wallet;
  await fixtures.db.sql`
    update merchants set wallet_address = ${`0x${'ab'.repeat(20)}`} where id = ${plan.account_id}`;
  assert.equal(await endOutdated(fixtures.ctx, running), 1);
  assert.deepEqual(await standingOf(plan), ['ended', 'wallet_changed']);
  assert.ok((await mails()).includes('Test: Ada’s Bakery asks you to agree again'));
  assert.match((await fixtures.open(plan)).html, /The merchant now uses another wallet/);
  await fixtures.db.sql`update merchants set wallet_address = ${before} where id = ${plan.account_id}`;
  const merchant = startVisitor(fixtures.origin);
  merchant.cookies.set('dashboard-session', await sessionOf(fixtures.ctx, fixtures.scope, fixtures.merchant));
  const { html } = await merchant.open(`/dashboard/plans/${plan.id}`);
  assert.match(html, /Your customer has to agree again/);
  const late = await agreed();
  await fixtures.db.sql`
    update mandates set starts_at = starts_at - interval '2 years', ends_at = now() where plan_id = ${late.plan.id}`;
  assert.equal(await endOutdated(fixtures.ctx, running), 1);
  assert.deepEqual(await standingOf(late.plan), ['ended', 'expired']);
});

test('A merchant with many agreements uses another wallet → one run ends them all, past some that cannot be ended', async () => {
  const { plan } = await agreed();
  const { id: heldId } = await fixtures.mandateOf(plan);
  const copyOf = (fields: string) => `jsonb_build_object('id', gen_random_uuid(), ${fields})`;
  await fixtures.owner.unsafe(`
    with copies as (
      insert into plans select (jsonb_populate_record(p, ${copyOf("'form_key', n, 'name', n")})).*
      from plans p cross join generate_series(1, 50) n where p.id = '${plan.id}' returning id, name)
    insert into mandates select (jsonb_populate_record(m,
      ${copyOf("'plan_id', c.id, 'reserve_percent', c.name::int % 2, 'hash', sha256(c.id::text::bytea)")})).*
    from mandates m cross join copies c where m.id = '${heldId}'`);
  await fixtures.owner`
    create function hold_mandate() returns trigger language plpgsql as $$ begin raise 'this mandate is held'; end $$`;
  await fixtures.owner`
    create trigger hold_mandate before update on mandates for each row
      when (old.reserve_percent = 1) execute function hold_mandate()`;
  const before = fixtures.merchant.wallet;
  const useWallet = (wallet: string) =>
    fixtures.db.sql`update merchants set wallet_address = ${wallet} where id = ${plan.account_id}`;
  await useWallet(`0x${'ab'.repeat(20)}`);
  try {
    assert.equal(await endOutdated(fixtures.ctx, running), 26);
  } finally {
    await fixtures.owner`drop function hold_mandate() cascade`;
  }
  assert.equal(await endOutdated(fixtures.ctx, running), 25);
  await useWallet(before);
  await fixtures.db.sql`update mandates set revoke_due_at = null where account_id = ${plan.account_id}`;
});

test('An agreement ends and no mail can go to its customer → the merchant is told to ask, and not that somebody did', async () => {
  const before = fixtures.merchant.wallet;
  const merchantMail = async () => (await fixtures.mails('ada@example.com')).at(-1)?.body ?? '';
  const changed = async (plan: { account_id: string }) => {
    await fixtures.db.sql`
      update merchants set wallet_address = ${`0x${'ab'.repeat(20)}`} where id = ${plan.account_id}`;
    assert.equal(await endOutdated(fixtures.ctx, running), 1);
    await fixtures.db.sql`update merchants set wallet_address = ${before} where id = ${plan.account_id}`;
  };
  const asked = await agreed();
  await changed(asked.plan);
  assert.match(await merchantMail(), /\n\nGrace Hopper has been asked to agree again\./);
  const silent = await agreed();
  await fixtures.db.sql`update plans set customer_email = null where id = ${silent.plan.id}`;
  await changed(silent.plan);
  const told = await merchantMail();
  assert.match(told, /\n\nGrace Hopper was not e-mailed about this\. Please send them the link on the plan’s page/);
  assert.doesNotMatch(told, /has been asked/);
});

test('Erasing a customer ends the agreement, deletes the plan’s mails, and the page forgets who it was', async () => {
  const { plan, mails } = await agreed();
  const [{ customer_email: value = '' } = {}] = await fixtures.db.sql<{ customer_email: string }[]>`
    select customer_email from plans where id = ${plan.id}`;
  await eraseCustomer(fixtures.ctx, theService, { by: 'email', value });
  assert.deepEqual(await standingOf(plan), ['ended', 'customer_erased']);
  assert.deepEqual([...(await mails())], []);
  assert.equal((await fixtures.open(plan)).status, 200);
  await revoke();
  assert.equal(await onChain(plan), true);
});

test('Erasing a customer of whom a mail has told the merchant → that mail is deleted too, and no other', async () => {
  const named = async () => {
    const mails = await fixtures.mails('ada@example.com');
    return mails.filter(({ subject, body }) => /Tuba for Grace/.test(subject) && /Grace Hopper’s plan/.test(body))
      .length;
  };
  const [one, two] = [await agreed(), await agreed()];
  for (const { plan } of [one, two]) {
    await fixtures.db.sql`update plans set name = 'Tuba for Grace' where id = ${plan.id}`;
    await fixtures.post(plan, 'stop', {});
  }
  assert.equal(await named(), 2);
  await eraseCustomer(fixtures.ctx, theService, { by: 'email', value: one.address });
  assert.equal(await named(), 1);
});

test('The payer’s signature allows more charges; the agreement stays the same', async () => {
  const { plan, payer } = await agreed();
  const signed = await fixtures.signRaise(plan, payer, '24');
  const step = await fixtures.post(plan, 'raise-step', signed);
  assert.equal(step.value, String(24n * 12_010_000n));
  const answer = await fixtures.post(plan, 'raise', { ...signed, ...(await fixtures.permit(payer, step)) });
  assert.equal(answer.done, 'raised');
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.allowed_charges], ['active', 24]);
});

test('The link alone reveals no sum of a payer’s agreements, and changes no allowance', async () => {
  const { plan, payer } = await agreed();
  const stranger = { ...payer, privateKey: `0x${'5e'.repeat(32)}` as const };
  const signed = await fixtures.signRaise(plan, payer, '24');
  const { allowed_charges: before } = await fixtures.mandateOf(plan);
  for (const [fields, fault] of [
    [{ charges: '24' }, 'stale'],
    [{ ...signed, signature: '' }, 'bad_signature'],
    [await fixtures.signRaise(plan, stranger, '24'), 'bad_signature'],
    [{ ...signed, charges: '1' }, 'bad_signature'],
    [{ ...signed, until: new Date(new Date(signed.until ?? '').getTime() - 1000).toISOString() }, 'bad_signature'],
    [{ ...signed, until: new Date(0).toISOString() }, 'stale'],
    [{ ...signed, until: new Date(fixtures.clock.now().getTime() + 31 * minuteMs).toISOString() }, 'stale'],
  ] as const) {
    for (const name of ['raise-step', 'raise']) {
      const { status: _, ...answer } = await fixtures.post(plan, name, fields);
      assert.deepEqual(answer, { fault });
    }
  }
  assert.equal((await fixtures.mandateOf(plan)).allowed_charges, before);
});

test('the link in a plan’s mail → stops the plan’s mails', async () => {
  const { plan, mails } = await agreed();
  const before = (await mails()).length;
  assert.match((await fixtures.open(plan, '/stop-mails')).html, /Stop these e-mails\?/);
  assert.equal((await fixtures.post(plan, 'stop-mails', {})).status, 200);
  await fixtures.post(plan, 'stop', {});
  assert.ok((await mails()).length <= before); // those that waited are gone, and no new one came
});
