import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { parseTransaction, type TransactionSerializableEIP1559 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { followRelays } from '../../src/chain/relay/follow.ts';
import { dispatch, dispatchAll } from '../../src/chain/relay/relay.ts';
import type { Hex } from '../../src/chain/rpc.ts';
import { ConfigError, readConfig } from '../../src/config.ts';
import { findOvertaken } from '../../src/plans/collect/overtaken.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { passTime, type RelayFixtures, relayFixtures } from '../support/chain/relay-fixtures.ts';
import { fundRelayer, testRelayerKey } from '../support/chain/relayer.ts';
import { secretsText } from '../support/fixtures.ts';

const account = privateKeyToAccount(`0x${'a7'.repeat(32)}`);
const address = account.address.toLowerCase() as Hex;

type Asked = Record<'to' | 'data' | 'gas' | 'nonce' | 'chainId' | 'maxFeePerGas' | 'maxPriorityFeePerGas', Hex>;
/** How the signer answers: what it signs, and in which form. */
const signer = {
  away: false,
  change: (transaction: TransactionSerializableEIP1559): TransactionSerializableEIP1559 => transaction,
  form: (raw: Hex): unknown => raw,
  /** Calls that its policy forbids. */
  forbids: (_: Asked): boolean => false,
  asked: [] as Asked[],
};

/** A JSON-RPC signer with its own key. */
const server = createServer(async (request, response) => {
  if (signer.away) return request.socket.destroy();
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as {
    id: number;
    method: string;
    params: [Asked];
  };
  assert.equal(method, 'eth_signTransaction');
  assert.equal(request.headers.authorization, `Basic ${Buffer.from('relay:secret-word').toString('base64')}`);
  const [asked] = params;
  signer.asked.push(asked);
  response.setHeader('content-type', 'application/json');
  if (signer.forbids(asked)) {
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'not allowed' } }));
  }
  const transaction = signer.change({
    type: 'eip1559',
    to: asked.to,
    data: asked.data,
    gas: BigInt(asked.gas),
    nonce: Number(asked.nonce),
    chainId: Number(asked.chainId),
    maxFeePerGas: BigInt(asked.maxFeePerGas),
    maxPriorityFeePerGas: BigInt(asked.maxPriorityFeePerGas),
  });
  const result = signer.form(await account.signTransaction(transaction));
  return response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
});

let f: RelayFixtures;
let ctx: RelayFixtures['ctx'];
before(async () => {
  f = await relayFixtures();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://relay:secret-word@127.0.0.1:${(server.address() as AddressInfo).port}`;
  const old = f.ctx.config.relayer.signers;
  ctx = { ...f.ctx, config: { ...f.ctx.config, relayer: { signers: [{ address, url }, ...old] } } };
  await fundRelayer(f.node.chain, 10n ** 20n, address);
  await f.follow(ctx);
});
after(async () => {
  server.closeAllConnections();
  server.close();
  await f.stop();
});

test('a JSON-RPC signer signs, with its raw bytes or an object around them; the key is nowhere else', async () => {
  for (const form of [(raw: Hex) => raw, (raw: Hex) => ({ raw, tx: {} })]) {
    signer.form = form;
    const id = await f.allot(f.call(), ctx);
    await dispatch(ctx, id);
    await f.read();
    await f.follow(ctx);
    assert.equal(await f.state(id), 'mined');
    const [row] = await f.db.sql`select signed from relay_variants where relay_id = ${id}`;
    assert.equal(parseTransaction(`0x${row?.signed.toString('hex')}`).chainId, f.chain.chainId);
  }
  assert.equal(await f.mined(address), 2);
});

test('a signer that is away, or signs something else, sends nothing; the call waits and is signed when it is back', async () => {
  signer.form = (raw) => raw;
  const id = await f.allot(f.call(), ctx);
  signer.away = true;
  await dispatch(ctx, id);
  assert.equal(await f.state(id), 'allotted');
  signer.away = false;
  const changes: ((transaction: TransactionSerializableEIP1559) => TransactionSerializableEIP1559)[] = [
    (one) => ({ ...one, to: `0x${'66'.repeat(20)}` }),
    (one) => ({ ...one, value: 1n }),
    (one) => ({ ...one, nonce: (one.nonce ?? 0) + 1 }),
    (one) => ({ ...one, chainId: 1 }),
    (one) => ({ ...one, data: '0x' }),
    (one) => ({ ...one, gas: (one.gas ?? 0n) + 1n }),
    (one) => ({ ...one, maxFeePerGas: (one.maxFeePerGas ?? 0n) * 2n }),
  ];
  for (const change of changes) {
    signer.change = change;
    await dispatch(ctx, id);
    assert.equal(await f.state(id), 'allotted');
  }
  signer.change = (one) => one;
  for (const nonsense of [null, 7, '0x02', `0x02${'00'.repeat(100)}`, { raw: null }]) {
    signer.form = () => nonsense;
    await dispatch(ctx, id);
    assert.equal(await f.state(id), 'allotted');
  }
  const [row] = await f.db.sql`select trouble from relay_transactions where id = ${id}`;
  assert.doesNotMatch(row?.trouble, /secret-word/);
  signer.form = (raw) => raw;
  await f.follow(ctx);
  await f.read();
  await f.follow(ctx);
  assert.equal(await f.state(id), 'mined');
});

test('a signer that signs nothing for ten minutes → an alarm names the call that is first in line, until it is signed and mined', async () => {
  signer.form = (raw) => raw;
  const id = await f.allot(f.call(), ctx);
  signer.away = true;
  await dispatch(ctx, id);
  await passTime(f.db, 700);
  await f.follow(ctx);
  const key = `relay-stuck:${f.chain.chainId}:${address}`;
  assert.match((await raisedAlarms(f.db.sql)).get(key) ?? '', /nonce \d+/);
  signer.away = false;
  await f.follow(ctx);
  await f.read();
  await f.follow(ctx);
  assert.equal((await raisedAlarms(f.db.sql)).get(key), undefined);
  assert.equal(await f.state(id), 'mined');
});

test('a signer that refuses one call for a minute → a transfer of nothing uses its nonce, and those behind it are mined', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(await f.allot(f.call(), ctx));
  const [refused = ''] = ids;
  const [row] = await f.db.sql`select nonce from relay_transactions where id = ${refused}`;
  signer.forbids = ({ nonce, data }) => Number(nonce) === Number(row?.nonce) && data !== '0x';
  await dispatchAll(ctx, ids);
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['allotted', 'sent', 'sent']);
  signer.forbids = ({ nonce }) => Number(nonce) === Number(row?.nonce);
  for (let passes = 0; passes < 3; passes++) await f.follow(ctx);
  assert.equal(await f.state(refused), 'allotted', 'it asks again, also for the transfer of nothing');
  signer.forbids = ({ nonce, data }) => Number(nonce) === Number(row?.nonce) && data !== '0x';
  await f.follow(ctx);
  await f.node.mine(4);
  for (let passes = 0; passes < 3; passes++) {
    await f.read();
    await f.follow(ctx);
  }
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['lost', 'final', 'final']);
  signer.forbids = () => false;
  await f.rpc('evm_setAutomine', [true]);
});

test('a signer that refuses higher fees for a call that was lost → the same bytes are sent again, and mined', async () => {
  await f.rpc('evm_setAutomine', [false]);
  const id = await f.allot(f.call(), ctx);
  await dispatch(ctx, id);
  signer.forbids = () => true;
  await f.rpc('anvil_dropAllTransactions');
  await f.node.mine(2);
  await f.read();
  const before = signer.asked.length;
  await f.follow(ctx);
  assert.ok(signer.asked.length > before, 'higher fees were asked for');
  await f.node.mine(4);
  for (let passes = 0; passes < 3; passes++) {
    await f.read();
    await f.follow(ctx);
  }
  assert.equal(await f.state(id), 'final');
  signer.forbids = () => false;
  await f.rpc('evm_setAutomine', [true]);
});

test('a signer that refused everything for a minute and is back → the first call in line is signed unchanged', async () => {
  const ids = [await f.allot(f.call(), ctx), await f.allot(f.call(), ctx)];
  signer.forbids = () => true;
  await dispatchAll(ctx, ids);
  await f.follow(ctx);
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['allotted', 'allotted']);
  signer.forbids = () => false;
  await passTime(f.db, 2); // sooner than what waits is tried again
  await followRelays(ctx, f.chain, findOvertaken);
  const variants = await f.db.sql`select relay_id, cancels from relay_variants where relay_id = any(${ids}::uuid[])`;
  assert.deepEqual(
    variants.map(({ relay_id, cancels }) => [relay_id, cancels]),
    [[ids[0], false]],
  );
  await f.follow(ctx);
  await f.read();
  await f.follow(ctx);
  assert.deepEqual(await Promise.all(ids.map(f.state)), ['mined', 'mined']);
});

test('an old address sends what names it, while new calls use the newest; without its key its calls wait', async () => {
  const [old] = f.ctx.config.relayer.signers;
  const id = await f.allot(f.call({ from: old?.address ?? null }), ctx);
  const [row] = await f.db.sql`select from_address from relay_transactions where id = ${id}`;
  assert.equal(row?.from_address, old?.address);
  const without = { ...ctx, config: { ...ctx.config, relayer: { signers: ctx.config.relayer.signers.slice(0, 1) } } };
  await f.follow(without);
  assert.equal(await f.state(id), 'allotted');
  await f.follow(ctx);
  assert.equal(await f.state(id), 'sent');
});

const env = { SANDBOX: 'on', SECRET_KEYS: secretsText, CHAINS_FILE: '', DATA_DIR: '/nonexistent' };
const faultsOf = (more: NodeJS.ProcessEnv): string => {
  try {
    readConfig({ ...env, ...more });
    return '';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
};

test('RELAYER_KEYS and RELAYER_SIGNER_URL › read, newest first; faults and printed settings show no key', () => {
  const other = `0x${'53'.repeat(32)}`;
  const both = {
    RELAYER_KEYS: `${testRelayerKey}, ${other}`,
    RELAYER_SIGNER_URL: 'https://relay:secret-word@signer.example',
    RELAYER_ADDRESS: account.address,
  };
  const { relayer } = readConfig({ ...env, ...both });
  assert.deepEqual(
    relayer.signers.map((one) => one.address),
    [
      address,
      privateKeyToAccount(testRelayerKey).address.toLowerCase(),
      privateKeyToAccount(other as Hex).address.toLowerCase(),
    ],
  );
  const printed = `${JSON.stringify(relayer)} ${inspect(relayer, { depth: 10 })}`;
  assert.doesNotMatch(printed, /5252525252|5353535353/);
  assert.equal(readConfig(env).relayer.signers.length, 1, 'a sandbox on its own chains derives a key');
  assert.notEqual(
    readConfig(env).relayer.signers[0]?.address,
    readConfig({ ...env, SECRET_KEYS: `b:${Buffer.alloc(32, 8).toString('base64')}` }).relayer.signers[0]?.address,
  );
  for (const [wrong, fault] of [
    [{ RELAYER_KEYS: 'deadbeefdeadbeef' }, /RELAYER_KEYS: entry 1/],
    [{ RELAYER_KEYS: `${testRelayerKey},0x${'00'.repeat(32)}` }, /RELAYER_KEYS: entry 2/],
    [{ RELAYER_KEYS: `0x${'ff'.repeat(32)}` }, /RELAYER_KEYS: entry 1/],
    [{ RELAYER_KEYS: `${testRelayerKey},${testRelayerKey}` }, /twice/],
    [{ RELAYER_SIGNER_URL: 'https://signer.example' }, /RELAYER_ADDRESS is required/],
    [{ RELAYER_SIGNER_URL: 'ftp://secret-word', RELAYER_ADDRESS: account.address }, /RELAYER_SIGNER_URL must be/],
    [{ RELAYER_ADDRESS: account.address }, /RELAYER_ADDRESS needs/],
  ] as const) {
    const told = faultsOf(wrong);
    assert.match(told, fault);
    assert.doesNotMatch(told, /deadbeef|5252525252|secret-word|ffffffff/);
  }
});
