import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, afterEach, before, test } from 'node:test';
import { confirmTransfer, prefetchFromAll, type SeenTransfer } from '../../src/chain/confirm.ts';
import { prefetch } from '../../src/chain/prefetch.ts';
import { poll } from '../../src/chain/reader/read.ts';
import { callRpc, connectRpc } from '../../src/chain/rpc.ts';
import { fakeProvider, type Lie } from '../support/chain/fake-provider.ts';
import { pollUntil, type WatchFixtures, watchFixtures } from '../support/chain/watch-fixtures.ts';

const many = 6;

let fixtures: WatchFixtures;
afterEach(() => fixtures.db.sql`delete from unread_transactions`);
before(async () => {
  fixtures = await watchFixtures();
  await fixtures.request();
  await poll(await fixtures.reader()); // from here on it reads
});
after(() => fixtures?.stop());

type Provider = Awaited<ReturnType<typeof fakeProvider>>;
type Payment = { txHash: string; reference: Buffer };

const refused = { error: { code: -32601, message: 'method not found' } };
const without =
  (...methods: string[]): Lie =>
  async ({ method }) =>
    methods.includes(method) ? refused : null;
const noBlocks = without('eth_getBlockReceipts');
/** JSON that cannot be made text. */
const noText = { toString: 1 };

/** Makes this many payments in one block, each with its own reference. */
async function payTogether(count: number): Promise<Payment[]> {
  const { node, merchant } = fixtures;
  const url = node.chain.rpcUrls[0] ?? '';
  const payers = Array.from({ length: count }, () => node.wallet());
  for (const payer of payers) await node.fund(payer.address, 1_000_000n);
  await callRpc(url, 'evm_setAutomine', [false]);
  const payments: Payment[] = [];
  try {
    for (const from of payers) {
      const reference = randomBytes(16);
      const txHash = await node.offer({ from, to: merchant.wallet, usdcMicro: 1_000_000n, reference });
      payments.push({ txHash: String(txHash), reference });
    }
    await node.mine(1);
  } finally {
    await callRpc(url, 'evm_setAutomine', [true]);
  }
  return payments;
}

async function withProvider(work: (provider: Provider) => Promise<void>): Promise<void> {
  const provider = await fakeProvider(fixtures.node.chain.rpcUrls[0] ?? '');
  try {
    await work(provider);
  } finally {
    await provider.stop();
  }
}

/** Reads up to the chain's head through this provider. */
async function readThrough({ url, fake }: Provider): Promise<void> {
  const reader = await fixtures.reader([url]);
  fake.calls.clear();
  await pollUntil(reader, async () => {
    const head = (await callRpc(fixtures.node.chain.rpcUrls[0] ?? '', 'eth_blockNumber', [])) as string;
    return (await fixtures.cursor())?.number === Number(head);
  });
}

async function assertRead(payments: Payment[]): Promise<void> {
  const stored = new Map((await fixtures.transfers()).map((row) => [row.tx_hash, row.calldata_reference]));
  for (const { txHash, reference } of payments) assert.deepEqual(stored.get(txHash), reference);
}

const unread = async () =>
  (await fixtures.db.sql`select tx_hash from unread_transactions`).map(({ tx_hash }) => tx_hash);

/** How a provider changes calls and batches, and how often it is then asked for single transactions. */
const providers: Record<
  string,
  { lie?: Lie; batch?: (answers: object[]) => unknown; singly: number; messages: number }
> = {
  'has it all': { singly: 0, messages: 2 },
  'has no receipts of whole blocks': { lie: noBlocks, singly: many, messages: 3 },
  'has neither receipts nor transactions of whole blocks': {
    lie: async ({ method, params }) =>
      method === 'eth_getBlockReceipts' || (method === 'eth_getBlockByNumber' && params[1] === true) ? refused : null,
    singly: 2 * many,
    messages: 3,
  },
  'answers a batch in another order': {
    lie: noBlocks,
    batch: (answers) => answers.toReversed(),
    singly: many,
    messages: 3,
  },
  'leaves one answer out of a batch': {
    lie: noBlocks,
    batch: (answers) => answers.slice(1),
    singly: many + 1,
    messages: 4,
  },
  'takes no batches': {
    lie: noBlocks,
    batch: () => ({ jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } }),
    singly: 2 * many,
    messages: 3 + many,
  },
  'makes a batch too large': {
    lie: noBlocks,
    batch: (answers) => [...answers, 'x'.repeat(33 * 2 ** 20)],
    singly: 2 * many,
    messages: 3 + many,
  },
  'tells of no logs in the receipts of whole blocks': {
    lie: async ({ method, params, ask }) => {
      if (method !== 'eth_getBlockReceipts') return null;
      return { result: ((await ask(method, params)) as object[]).map((receipt) => ({ ...receipt, logs: [] })) };
    },
    singly: 2 * many,
    messages: 2 + 2 * many,
  },
  'mixes up the answers of a batch': {
    lie: noBlocks,
    batch: (answers) => answers.map((answer, i) => ({ ...answer, id: (answers.at(i - 1) as { id: number }).id })),
    singly: 3 * many,
    messages: 3 + 2 * many,
  },
  'has no text for the hashes of other transactions in whole blocks': {
    lie: async ({ method, params, ask }) => {
      if (method === 'eth_getBlockReceipts')
        return { result: [{ transactionHash: noText }, ...((await ask(method, params)) as object[])] };
      if (method !== 'eth_getBlockByNumber' || params[1] !== true) return null;
      const block = (await ask(method, params)) as { transactions: object[] };
      return { result: { ...block, transactions: [null, { hash: noText }, ...block.transactions] } };
    },
    singly: 0,
    messages: 2,
  },
  'refuses whole blocks with what is no text': {
    lie: async ({ method }) =>
      method === 'eth_getBlockReceipts' ? { error: { code: noText, message: noText } as never } : null,
    singly: many,
    messages: 3,
  },
  'adds an answer to a batch whose id is no text': {
    lie: noBlocks,
    batch: (answers) => [{ id: noText }, ...answers],
    singly: many,
    messages: 3,
  },
  'says nothing about a batch': { lie: noBlocks, batch: () => null, singly: 2 * many, messages: 3 + many },
};

for (const [what, { lie, batch, singly, messages }] of Object.entries(providers)) {
  test(`a block with ${many} payments, from a provider that ${what} → all are read, after ${messages} messages about them`, () =>
    withProvider(async (provider) => {
      const payments = await payTogether(many);
      if (lie) provider.fake.lie = lie;
      if (batch) provider.fake.batch = batch;
      const about = () =>
        (provider.fake.calls.get('eth_getTransactionReceipt') ?? 0) +
        (provider.fake.calls.get('eth_getTransactionByHash') ?? 0);
      await readThrough(provider);
      await assertRead(payments);
      assert.equal(about(), singly);
      assert.equal(provider.fake.transactionMessages, messages);
    }));
}

const faults: Record<string, Awaited<ReturnType<Lie>>> = {
  'refuses it': { error: { code: -32000, message: 'response size exceeded' } },
  'drops the connection': 'hang up',
  'claims too many calls': { status: 429 },
  'answers with another shape': { result: { status: 'well' } },
};

for (const [what, fault] of Object.entries(faults)) {
  test(`a provider ${what} for one of ${many} transactions → the others are read, and that one is set aside`, () =>
    withProvider(async (provider) => {
      const payments = await payTogether(many);
      const [bad, ...others] = payments as [Payment, ...Payment[]];
      const blocks = noBlocks;
      provider.fake.lie = async (call) => {
        if (call.method === 'eth_getBlockByNumber' && call.params[1] === true) return refused;
        return call.params[0] === bad.txHash ? fault : blocks(call);
      };
      await readThrough(provider);
      await assertRead(others);
      assert.deepEqual(await unread(), [bad.txHash]);
    }));
}

/** Makes a provider's whole blocks larger by this many useless bytes. */
const withBallast =
  (bytes: number, transactions = many): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getBlockReceipts' && method !== 'eth_getBlockByNumber') return null;
    const told = await ask(method, params);
    const more = 'x'.repeat(bytes);
    if (method === 'eth_getBlockReceipts') return { result: [...(told as object[]), { transactionHash: more }] };
    const block = told as { transactions: unknown[] };
    if (params[1] === true) return { result: { ...block, more } };
    const hashes = Array.from({ length: transactions }, () => `0x${'ab'.repeat(32)}`);
    return { result: { ...block, transactions: hashes } };
  };
const asked = ({ fake }: Provider) => ({
  receipts: fake.calls.get('eth_getBlockReceipts') ?? 0,
  messages: fake.transactionMessages,
});

test(`${many} payments in a block of ${4 * many + 1} transactions → they are asked for by hash, in one message; in one of ${4 * many}, as a block`, () =>
  withProvider(async (provider) => {
    for (const [transactions, whole] of [
      [4 * many + 1, { receipts: 0, messages: 1 }],
      [4 * many, { receipts: 1, messages: 2 }],
    ] as const) {
      const payments = await payTogether(many);
      provider.fake.lie = withBallast(0, transactions);
      provider.fake.transactionMessages = 0;
      await readThrough(provider);
      await assertRead(payments);
      assert.deepEqual(asked(provider), whole);
    }
  }));

test('many payments by one transaction → the transaction is queried once', () =>
  withProvider(async (provider) => {
    const [{ txHash }] = (await payTogether(1)) as [Payment];
    await readThrough(provider);
    const row = (await fixtures.transfers()).find((one) => one.tx_hash === txHash);
    assert.ok(row);
    const placed = { txHash, blockNumber: Number(row.block_number), blockHash: row.block_hash };
    provider.fake.lie = withBallast(0, many);
    provider.fake.calls.clear();
    await prefetch(
      connectRpc(provider.url),
      Array.from({ length: 60 }, () => placed),
      2_000,
    );
    assert.equal(asked(provider).receipts, 0);
    assert.equal(provider.fake.calls.get('eth_getTransactionReceipt'), 1);
  }));

test(`a block with ${many} payments whose whole answers are larger than 64 KiB for each → cut, and asked for by hash`, () =>
  withProvider(async (provider) => {
    for (const [bytes, messages] of [
      [many * 48 * 1024, 2],
      [many * 64 * 1024, 3],
    ] as const) {
      const payments = await payTogether(many);
      provider.fake.lie = withBallast(bytes);
      provider.fake.transactionMessages = 0;
      await readThrough(provider);
      await assertRead(payments);
      assert.deepEqual(asked(provider), { receipts: 1, messages });
    }
  }));

test('an endpoint whose receipt differs in a block’s list → its answer for the single receipt counts', () =>
  withProvider(async (provider) => {
    const payments = await payTogether(many);
    await readThrough(provider);
    const rows = (await fixtures.transfers()).filter((row) => payments.some(({ txHash }) => txHash === row.tx_hash));
    const keys = rows.map(
      (row): SeenTransfer => ({
        ...{ txHash: row.tx_hash, ordinal: row.ordinal, blockNumber: Number(row.block_number) },
        ...{ logIndex: row.log_index, blockHash: row.block_hash, blockTime: row.block_time },
        tokenAddress: fixtures.node.chain.tokens[0]?.address ?? '',
        ...{ fromAddress: row.from_address, toAddress: row.to_address, value: BigInt(row.value) },
        ...{ calldata: null, bindings: null },
      }),
    );
    const chain = { ...fixtures.node.chain, rpcUrls: [provider.url, ...fixtures.node.chain.rpcUrls] };
    const confirmAll = async () => {
      const endpoints = await prefetchFromAll(chain, keys, 2_000);
      return Promise.all(keys.map((key) => confirmTransfer(chain, key, endpoints)));
    };
    assert.deepEqual(new Set(await confirmAll()), new Set(['agreed']));
    const [first] = keys;
    const elsewhere = `0x${'ab'.repeat(32)}`;
    provider.fake.lie = async ({ method, params, ask }) => {
      if (method !== 'eth_getBlockReceipts') return null;
      const receipts = (await ask(method, params)) as { transactionHash: string }[];
      return {
        result: receipts.map((one) => (one.transactionHash === first?.txHash ? { ...one, blockHash: elsewhere } : one)),
      };
    };
    assert.deepEqual(new Set(await confirmAll()), new Set(['agreed']));
    provider.fake.lie = async ({ method }) =>
      method === 'eth_getTransactionReceipt'
        ? { result: null }
        : noBlocks({
            method,
            params: [],
            ask: async () => null,
          });
    assert.deepEqual(new Set(await confirmAll()), new Set(['missing']));
  }));
