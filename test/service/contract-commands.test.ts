import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { Hex } from 'viem';
import { recurringAddress } from '../../src/chain/recurring/contract.ts';
import { queryContractState } from '../../src/chain/recurring/deployed-code.ts';
import { callRpc, toHex } from '../../src/chain/rpc.ts';
import { UsageFault } from '../../src/cli/command.ts';
import { checkContracts, contractCommands } from '../../src/cli/contracts.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import { insertMandate } from '../../src/plans/mandates/store.ts';
import { idleChain, testConfig, testContext } from '../support/app.ts';
import { type TestChain, testChain } from '../support/chain/chain.ts';
import { fundRelayer, testRelayer } from '../support/chain/relayer.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, randomAddress, secretsText } from '../support/fixtures.ts';
import { makePlan } from '../support/plans.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
const deployerKey: Hex = `0x${'d1'.repeat(32)}`;
const { deployer } = readConfig({ SECRET_KEYS: secretsText, DEPLOYER_KEY: deployerKey });

let database: Awaited<ReturnType<typeof testDatabase>>;
let node: TestChain;
let untouched: unknown;
before(async () => {
  [database, node] = await Promise.all([testDatabase(), testChain()]);
  assert.ok(deployer);
  await rpc('anvil_setBalance', deployer.address, toHex(10n ** 18n));
  // As if the contract had never been deployed.
  await rpc('anvil_setCode', recurringAddress(), '0x');
  await rpc('anvil_setNonce', recurringAddress(), '0x0');
  untouched = await rpc('evm_snapshot');
});
beforeEach(async () => {
  await rpc('evm_revert', untouched);
  untouched = await rpc('evm_snapshot');
  await database.db.sql`delete from relay_transactions`;
});
after(async () => {
  await node?.stop();
  await database?.drop();
});

const rpc = (method: string, ...params: unknown[]) => callRpc(node.chain.rpcUrls[0] ?? '', method, params);

type Line = { chain_id: number; state: string; sender: string; tx_hash: string | null; advice: string; code: string };

function context(config: Partial<Config> = {}): Context {
  return testContext(database.db, { config: testConfig(config), chains: { test: [node.chain], live: [idleChain(7)] } });
}

async function run(name: string, ctx: Context, options: Record<string, string> = {}) {
  const command = contractCommands.find((one) => one.name === name);
  assert.ok(command);
  const answer = await command.run(ctx, { words: [], options });
  return { answer, lines: answer.chains as Line[], failed: command.hasFailed?.(answer) ?? false };
}

const one = { chain: '31337' };

test('contracts deploy › by DEPLOYER_KEY on one chain → deployed, with the way on; again → it was already deployed', async () => {
  const ctx = context({ deployer });
  const first = await run('contracts deploy', ctx, one);
  const [line] = first.lines;
  assert.deepEqual([line?.state, line?.sender, first.failed], ['deployed', deployer?.address, false]);
  assert.equal(first.answer.next, 'The sandbox uses it automatically.');
  assert.match(String(first.answer.note), /not been audited/);
  assert.equal(await queryContractState(node.chain), 'deployed');
  const again = await run('contracts deploy', ctx, one);
  assert.deepEqual([again.lines[0]?.state, again.lines[0]?.tx_hash, again.failed], ['already deployed', null, false]);
});

test('contracts deploy › without DEPLOYER_KEY → the relayer pays; not while it has transactions under way', async () => {
  await fundRelayer(node.chain);
  const { partner } = await makePartner(database.db);
  await database.db.sql`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, day, fee_wei)
    values (${partner.id}, true, ${randomUUID()}, 31337, ${testRelayer.address}, 0, ${testRelayer.address}, ''::bytea, 1,
      'revoke', ${randomUUID()}, current_date, 1)`;
  const busy = await run('contracts deploy', context(), one);
  assert.equal(busy.failed, true);
  assert.match(busy.lines[0]?.advice ?? '', /transactions under way on chain 31337/);
  assert.equal((await run('contracts deploy', context({ deployer }), one)).failed, false);
  await rpc('evm_revert', untouched);
  untouched = await rpc('evm_snapshot');
  await fundRelayer(node.chain);
  await database.db.sql`delete from relay_transactions`;
  const done = await run('contracts deploy', context(), one);
  assert.deepEqual([done.lines[0]?.state, done.lines[0]?.sender], ['deployed', testRelayer.address]);
});

test('contracts deploy › all chains, one of which does not answer → the others are done, and the command fails', async () => {
  const { lines, failed } = await run('contracts deploy', context({ deployer }));
  assert.deepEqual(
    lines.map(({ chain_id, state }) => [chain_id, state]),
    [
      [31337, 'deployed'],
      [7, 'failed'],
    ],
  );
  assert.equal(failed, true);
});

test('contracts deploy › nobody to pay → an error that says so; a chain that is not configured → a usage error', async () => {
  const { lines } = await run('contracts deploy', context({ relayer: { signers: [] } }), one);
  assert.match(lines[0]?.advice ?? '', /^No key can pay for the deployment\. Set DEPLOYER_KEY/);
  await assert.rejects(run('contracts deploy', context(), { chain: '5' }), UsageFault);
});

test('contracts show › each chain with the address and the state of its code', async () => {
  const { answer, lines } = await run('contracts show', context());
  assert.equal(answer.address, recurringAddress());
  assert.deepEqual(
    lines.map(({ code }) => code),
    ['absent', 'unreachable'],
  );
  await run('contracts deploy', context({ deployer }), one);
  assert.equal((await run('contracts show', context(), one)).lines[0]?.code, 'deployed');
});

test('contracts deploy › with chains of the operator’s own → names the setting that comes next', async () => {
  const chains = { test: [node.chain], live: [] };
  const { answer } = await run('contracts deploy', context({ deployer, chains }), one);
  assert.match(String(answer.next), new RegExp(`^Set RECURRING_CONTRACT=${recurringAddress()} and restart`));
});

test('doctor › the state of the contract on each chain', async () => {
  const states = async (change: Partial<typeof node.chain> = {}) => {
    const ctx = { ...context(), chains: { test: [{ ...node.chain, ...change }], live: [] } };
    const [finding] = await checkContracts(ctx);
    return [finding?.state, finding?.advice] as const;
  };
  assert.match((await states()).join(' '), /^attention Not deployed.*contracts deploy --chain 31337/);
  await run('contracts deploy', context({ deployer }), one);
  assert.deepEqual(await states(), ['ok', '']);
  assert.match((await states({ recurringContract: null })).join(' '), /^ok RECURRING_CONTRACT is not set/);
  assert.match(
    (await states({ recurringContract: node.chain.tokens[0]?.address })).join(' '),
    /^failed The code at RECURRING_CONTRACT is not this version’s/,
  );
  assert.match(
    (await states({ rpcUrls: ['http://127.0.0.1:9'] })).join(' '),
    /^attention An endpoint does not respond/,
  );
});

test('doctor › customers have agreed on a chain where nothing can be charged → failed, with how many', async () => {
  const ctx = context();
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const plan = await makePlan(ctx, scope, merchant);
  const address = randomAddress() as Hex;
  await database.db.scoped(scope, (tx) =>
    insertMandate(tx, scope, {
      ...{ id: randomUUID(), plan_id: plan.id, account_id: merchant.id, chain_id: 31337, token_address: address },
      ...{
        contract_address: address,
        payer: address,
        payee: merchant.wallet as Hex,
        executor: address,
        cap_micro: '1',
      },
      ...{ min_interval_s: 1, starts_at: new Date(), ends_at: new Date(Date.now() + 1000), plan_ref: Buffer.alloc(32) },
      ...{ salt: Buffer.alloc(32), hash: Buffer.alloc(32), signature: Buffer.alloc(65), cap_fiat_int: '8000' },
      ...{ fiat_code: 'EUR', reserve_percent: 0, allowed_charges: 12, agreed_at: new Date() },
    }),
  );
  const [finding] = await checkContracts({ ...ctx, chains: { test: [node.chain], live: [] } });
  assert.equal(finding?.state, 'failed');
  assert.match(
    finding?.advice ?? '',
    /^Customers have agreed to automatic charges here \(1\), but none can be made\. Not dep/,
  );
});

test('the command line › deploys by the key in the environment, which it never prints, and takes none as an option', async () => {
  const file = join(node.folder, 'configured.json');
  const entry = {
    chain_id: 31337,
    rpc_urls: node.chain.rpcUrls,
    tokens: node.chain.tokens,
    finality: [{ tag: 'safe' }],
  };
  writeFileSync(file, JSON.stringify({ test: [entry], live: [{ ...entry, chain_id: 8 }] }));
  const env = { ...process.env, ...{ DATABASE_URL: database.url, SECRET_KEYS: secretsText, CHAINS_FILE: file } };
  const quittance = (...words: string[]) =>
    new Promise<{ code: number; said: string }>((resolve) => {
      execFile(script, words, { env: { ...env, DEPLOYER_KEY: deployerKey } }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
      );
    });
  try {
    const done = await quittance('contracts', 'deploy', '--chain', '31337', '--json');
    assert.equal(done.code, 0, done.said);
    assert.equal(JSON.parse(done.said).chains[0].state, 'deployed');
    const refused = await quittance('contracts', 'deploy', '--key', deployerKey);
    assert.equal(refused.code, 2);
    for (const { said } of [done, refused]) assert.ok(!said.includes(deployerKey.slice(2)));
  } finally {
    rmSync(file);
  }
});

test('DEPLOYER_KEY › a text that is no key → a fault that does not quote it', () => {
  for (const DEPLOYER_KEY of ['0x12', 'z'.repeat(64), `0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`]) {
    assert.throws(
      () => readConfig({ SECRET_KEYS: secretsText, DEPLOYER_KEY }),
      (error: Error) =>
        /DEPLOYER_KEY must be a private key/.test(error.message) && !error.message.includes(DEPLOYER_KEY),
    );
  }
});
