import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { checkChains } from '../../src/cli/chains-check.ts';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Context } from '../../src/context.ts';
import { freePort } from '../../src/lib/ports.ts';
import { removedTokens } from '../../src/payments/removed-tokens.ts';
import {
  alarmSilentChains,
  announceRemovedChains,
  removedChains,
  updateSilenceAlarms,
} from '../../src/payments/silent-chains.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { idleChain, testConfig, testContext } from '../support/app.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, makeTransfer, randomAddress } from '../support/fixtures.ts';
import { makePlan } from '../support/plans.ts';

let database: TestDatabase;
let chain: TestChain;
before(async () => {
  database = await testDatabase();
  chain = await testChain();
});
after(async () => {
  await chain?.stop();
  await database?.drop();
});
beforeEach(async () => {
  await database.db.sql`delete from chain_cursors`;
  await database.db.sql`delete from alarms`;
});

const contextOf = (...test: ChainConfig[]) => inFile({ test, live: [] });
/** A node with these chains in its CHAINS_FILE. */
const inFile = (chains: Context['chains']) => testContext(database.db, { config: testConfig({ chains }), chains });
const names = async () => [...(await raisedAlarms(database.db.sql)).keys()];

/** Records that a chain was last read so long ago. */
const readBefore = (chainId: number, seconds: number) => database.db.sql`
  insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, updated_at)
  values (${chainId}, 1, 10, '0x1', now(), 10, 9, now() - ${seconds} * interval '1 second')
  on conflict (chain_id) do update set updated_at = excluded.updated_at`;

/** A look by a process that has watched for long. */
const watch = (ctx: Context) => updateSilenceAlarms(ctx, 120_000, 0);

test('A process that has just started › gives the chains time to be read before it raises an alarm', async () => {
  await readBefore(1, 3_600);
  await alarmSilentChains(contextOf(idleChain(1)));
  assert.deepEqual(await names(), []);
});

test('A chain of which nothing was read for two minutes → an alarm, until it is read again', async () => {
  const ctx = contextOf(idleChain(1), idleChain(2));
  await readBefore(1, 60); // far from the limit: a busy machine looks later
  await readBefore(2, 0);
  await watch(ctx);
  assert.deepEqual(await names(), []);
  await readBefore(1, 121);
  await watch(ctx);
  assert.match(
    (await raisedAlarms(ctx.db.sql)).get('chain-silent:1') ?? '',
    /^Nothing has been read from Chain 1 since/,
  );
  await readBefore(1, 0);
  await watch(ctx);
  assert.deepEqual(await names(), []);
});

test('A chain that was never read → an alarm too, once the process has waited', async () => {
  const ctx = contextOf(idleChain(1));
  await alarmSilentChains(ctx);
  assert.deepEqual(await names(), []);
  await updateSilenceAlarms(ctx, 0, 0);
  assert.deepEqual(await names(), ['chain-silent:1']);
});

test('A chain removed from CHAINS_FILE › an alarm and a failed check while something waits for it, not otherwise', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const [without, withIt] = [contextOf(), contextOf(idleChain(7))];
  await readBefore(7, 600);
  await watch(without);
  assert.deepEqual(await names(), []);
  assert.deepEqual(await checkChains(without), []);

  const request = await makeRequest(database.db, scope, merchant, { startBlocks: { 7: 3 } });
  await database.db.sql`update requests set created_at = created_at - interval '20 minutes' where id = ${request.id}`;
  await readBefore(7, 540);
  await makeTransfer(database.db.sql, scope, merchant, { chain_id: 7 });
  await watch(without);
  const told = (await raisedAlarms(database.db.sql)).get('chain-missing:7');
  assert.match(
    told ?? '',
    /^Chain 7 is not in CHAINS_FILE .* something waits for it: payments, open requests\. Put it back/,
  );
  const [finding] = await checkChains(without);
  assert.deepEqual([finding?.check, finding?.state], ['chain 7', 'failed']);
  assert.match(finding?.advice ?? '', /payments, open requests\. Put it back, with "offered": false/);

  const chainsOf = (startBlocks: object) =>
    database.db.sql`update requests set start_blocks = ${JSON.stringify(startBlocks)}::jsonb where id = ${request.id}`;
  await readBefore(7, 0);
  const waiting = async () => (await removedChains(without, true))[0]?.waiting;
  await chainsOf({ 8: 3, heads: {} });
  assert.deepEqual(await waiting(), ['payments'], 'made with other chains');
  await chainsOf({ heads: {} });
  assert.deepEqual(await waiting(), ['payments', 'open requests'], 'no chain had a recent block');
  await readBefore(7, 3_600);
  assert.deepEqual(await waiting(), ['payments'], 'made after the chain was removed');

  await database.db.sql`update transfers set judged_at = now(), final_at = now() where chain_id = 7`;
  await database.db.sql`update requests set status = 'voided', voided_at = now() where id = ${request.id}`;
  await watch(without);
  assert.deepEqual(await names(), []);

  await database.db.sql`update transfers set judged_at = null where chain_id = 7`;
  await watch(without);
  assert.deepEqual(await names(), ['chain-missing:7']);
  await readBefore(7, 0);
  await watch(withIt);
  assert.deepEqual(await names(), [], 'put back');
});

test('An agreement that was stopped and is not revoked on a chain that was removed › it is named, until it is revoked', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const without = contextOf();
  const { id: planId } = await makePlan(without, scope, merchant);
  await readBefore(13, 3_600);
  const word = Buffer.alloc(32, 1);
  await database.db.sql`
    insert into mandates (partner_id, test_mode, id, plan_id, account_id, chain_id, token_address, contract_address, payer,
      payee, executor, cap_micro, min_interval_s, starts_at, ends_at, plan_ref, salt, hash, signature, cap_fiat_int,
      fiat_code, reserve_percent, agreed_at, state, ended_at, end_reason, revoke_due_at)
    values (${scope.partnerId}, true, gen_random_uuid(), ${planId}, ${merchant.id}, 13, ${randomAddress()},
      ${randomAddress()}, ${randomAddress()}, ${merchant.wallet}, ${randomAddress()}, 1, 1, now(),
      now() + interval '1 year', ${word}, ${word}, ${word}, ${word}, 1, 'EUR', 0, now(), 'stopped', now(),
      'stopped_by_customer', now())`;
  const waiting = async () => (await removedChains(without, false))[0]?.waiting;
  assert.deepEqual(await waiting(), ['revocations of agreements']);
  await database.db.sql`update mandates set revoke_due_at = null, revoked_at = now() where chain_id = 13`;
  assert.deepEqual(await waiting(), []);
});

test('A chain moved to the other mode › the start, an alarm and doctor name what waits for it in its old mode', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const moved = inFile({ test: [], live: [idleChain(9)] });
  await readBefore(9, 0);
  await makeRequest(database.db, scope, merchant, { startBlocks: {} });
  const logged: object[] = [];
  const announce = async () => {
    logged.length = 0;
    await announceRemovedChains({
      ...moved,
      log: { ...moved.log, warn: (about: object) => logged.push(about) } as never,
    });
    return logged;
  };
  const findings = async () => (await checkChains(moved)).filter(({ check }) => check === 'chain 9, test mode');
  await watch(moved);
  assert.deepEqual(await names(), []);
  assert.deepEqual([await announce(), await findings()], [[], []], 'made with no recent block of any chain');

  await makeRequest(database.db, scope, merchant, { startBlocks: { 9: 3 } });
  assert.deepEqual(await announce(), [{ chain: 9, mode: 'test', waiting: ['open requests'] }]);
  await makeTransfer(database.db.sql, scope, merchant, { chain_id: 9 });
  assert.deepEqual(await announce(), [{ chain: 9, mode: 'test', waiting: ['payments', 'open requests'] }]);
  const [finding] = await findings();
  assert.match(finding?.advice ?? '', /in test mode waits for it: payments, open requests\. Move it back/);
  await alarmSilentChains(moved);
  assert.deepEqual(await names(), [], 'a process that has just started waits');
  await watch(moved);
  const told = (await raisedAlarms(database.db.sql)).get('chain-missing:9');
  assert.match(
    told ?? '',
    /^Chain 9 is not among the test chains of CHAINS_FILE, .* waits for it: payments\. Move it back/,
  );

  await watch(contextOf(idleChain(9)));
  assert.deepEqual(await names(), [], 'moved back');
  assert.deepEqual(await removedChains(contextOf(idleChain(9)), true), []);
});

test('doctor › fails for an endpoint that does not answer, another chain, a token of other decimals, a chain that nobody reads', async () => {
  const here = { ...chain.chain, recurringContract: null };
  const stateOf = async (one: ChainConfig) => {
    const [finding] = await checkChains(contextOf(one));
    return `${finding?.state}: ${finding?.advice}`;
  };
  await readBefore(here.chainId, 0);
  assert.equal(await stateOf(here), 'ok: ');
  const nobody = `127.0.0.1:${await freePort()}`;
  const half = await stateOf({ ...here, rpcUrls: [...here.rpcUrls, `http://${nobody}`] });
  assert.match(
    half,
    new RegExp(`^failed: Payments are verified only while every endpoint answers, and ${nobody} does not`),
  );
  const [usdc] = here.tokens;
  assert.ok(usdc);
  assert.match(
    await stateOf({ ...here, tokens: [{ ...usdc, address: chain.wallet().address }] }),
    /^failed: CHAINS_FILE does not match the chains: USDC at 0x\w+ on chain 31337 does not have six decimals/,
  );
  assert.match(await stateOf({ ...here, chainId: 31399 }), /^failed: .* serves chain 31337, not 31399/);
  await readBefore(here.chainId, 61);
  assert.match(await stateOf(here), /^failed: Nothing was read for a minute/);
});

test('a local chain of the sandbox that does not answer, or is not read › doctor names no CHAINS_FILE, which describes none', async () => {
  const nobody = { ...idleChain(31337), rpcUrls: [`http://127.0.0.1:${await freePort()}`] };
  const adviceFor = async (one: ChainConfig) => {
    const chains = { test: [one], live: [] };
    return (await checkChains(testContext(database.db, { config: testConfig({ chains: null }), chains })))[0]?.advice;
  };
  await readBefore(31337, 0);
  assert.match((await adviceFor(nobody)) ?? '', /^The local chain does not answer: .* start that with npm start\.$/);
  await readBefore(31337, 61);
  const here = { ...chain.chain, recurringContract: null };
  assert.match((await adviceFor(here)) ?? '', /^The sandbox does not read its local chain: .*npm start again\.$/);
  await readBefore(31337, 0);
  assert.equal(await adviceFor(here), '');
});

test('A token removed from CHAINS_FILE › the start and doctor name what waits for it, until nothing does', async () => {
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const [token, other] = [randomAddress(), randomAddress()];
  const chainOf = (...addresses: string[]): ChainConfig => {
    const tokens = addresses.map((address) => ({ symbol: 'USDC', address: address as `0x${string}` }));
    return { ...idleChain(11), tokens };
  };
  await makeTransfer(database.db.sql, scope, merchant, { chain_id: 11, token_address: token });
  await database.db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, to_address, usdc_micro, noted_at,
      state, from_address, token_address)
    values (${scope.partnerId}, true, 11, '0xcd', 0, ${merchant.id}, '0x2', 5, now(), 'returning', ${merchant.wallet},
      ${token})`;
  const [without, withIt] = [contextOf(chainOf(other)), contextOf(chainOf(other, token))];
  const waiting = ['payments', 'refunds'];
  assert.deepEqual(await removedTokens(without), [{ chainId: 11, mode: 'test', address: token, waiting }]);
  assert.deepEqual(await removedTokens(withIt), []);
  assert.deepEqual(await removedTokens(contextOf()), [], 'the chain itself is missing');
  const found = async (ctx: Context) => (await checkChains(ctx)).filter(({ check }) => check.startsWith('token'));
  const [finding, ...others] = await found(without);
  assert.deepEqual([finding?.check, finding?.state, others], [`token ${token}, chain 11`, 'failed', []]);
  assert.match(finding?.advice ?? '', /waits for it: payments, refunds\. Put it back, with "offered": false/);
  assert.deepEqual(await found(withIt), []);
  const logged: object[] = [];
  await announceRemovedChains({
    ...without,
    log: { ...without.log, warn: (about: object) => logged.push(about) } as never,
  });
  assert.deepEqual(logged, [{ chain: 11, token, waiting }]);
  await database.db.sql`update transfers set judged_at = now() where chain_id = 11`;
  await database.db.sql`delete from returns where chain_id = 11`;
  assert.deepEqual(await removedTokens(without), []);
});
