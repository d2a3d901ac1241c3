import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { authorizationUsedTopic } from '../../src/chain/reader/bindings.ts';
import { transferTopic } from '../../src/chain/reader/blocks.ts';
import { readTransaction } from '../../src/chain/reader/transaction.ts';
import { connectRpc, type Rpc } from '../../src/chain/rpc.ts';
import { authorizationNonce } from '../../src/requests/authorization-nonce.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { fund, sendTransaction } from '../../src/sandbox/wallet.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { authorizedCall } from '../support/chain/authorize.ts';
import type { Lie } from '../support/chain/fake-provider.ts';
import { chargedLog, placeScript } from '../support/chain/script.ts';
import { type LyingReader, lyingReader } from '../support/payments/lying-reader.ts';

/** The endpoint that is read lies about the logs beside a transfer; the other one is honest. */
let fixtures: LyingReader;
let contract: Awaited<ReturnType<typeof placeScript>>;
let foreign: typeof contract;
before(async () => {
  fixtures = await lyingReader();
  [contract, foreign] = [await placeScript(fixtures.node), await placeScript(fixtures.node)];
  fixtures.node.chain.recurringContract = contract.address;
});
after(() => fixtures?.stop());

type Log = { address: string; topics: string[] };
/** The chain through its honest endpoint. */
const truth = () => ({ ...fixtures.node.chain, rpcUrls: fixtures.node.chain.rpcUrls.slice(-1) });
const usdc = () => fixtures.node.chain.tokens[0]?.address as Hex;

/** Changes every log in the receipts that the endpoint returns. */
const onLogs =
  (change: (log: Log) => Partial<Log>): Lie =>
  async ({ method, params, ask }) => {
    if (method !== 'eth_getTransactionReceipt') return null;
    const receipt = (await ask(method, params)) as { logs: Log[] } | null;
    return { result: receipt && { ...receipt, logs: receipt.logs.map((log) => ({ ...log, ...change(log) })) } };
  };
const honest: Lie = async () => null;
const noReceipts: Lie = async ({ method }) =>
  method === 'eth_getTransactionReceipt' ? { error: { code: -32000, message: 'response too large' } } : null;

async function pay(request: RequestRow, usdcMicro = BigInt(request.usdc_micro)): Promise<string> {
  const [from, stranger] = [fixtures.node.wallet(), fixtures.node.wallet()];
  await fund(truth(), from.address, usdcMicro);
  await fund(truth(), stranger.address, 0n);
  const nonce = authorizationNonce(request.reference, 0);
  const to = request.wallet_address;
  const call = await authorizedCall(fixtures.node.chain, { privateKey: from.privateKey, to, usdcMicro, nonce });
  return sendTransaction(truth(), stranger.privateKey, usdc(), call);
}

async function charge(request: RequestRow, by = contract): Promise<string> {
  const [from, usdcMicro] = [fixtures.node.wallet(), BigInt(request.usdc_micro)];
  await fund(truth(), from.address, usdcMicro);
  const encode = (functionName: 'approve' | 'transferFrom', args: readonly unknown[]) =>
    encodeFunctionData({ abi: erc20Abi, functionName, args } as Parameters<typeof encodeFunctionData>[0]);
  await sendTransaction(truth(), from.privateKey, usdc(), encode('approve', [by.address, usdcMicro]));
  const moved = encode('transferFrom', [from.address, request.wallet_address, usdcMicro]);
  const { reference, wallet_address: payee } = request;
  const said = chargedLog({ reference, payee, payer: from.address, token: usdc(), usdcMicro });
  return by.run([{ to: usdc(), data: moved }, said]);
}

const acts = [
  [(request: RequestRow) => pay(request), 'authorization'],
  [(request: RequestRow) => charge(request), 'charge'],
] as const;

/** The watcher reads the payment, and by the endpoint's blocks it is final. */
async function settleAll(): Promise<void> {
  await fixtures.node.mine(3);
  await fixtures.turn();
  await fixtures.turn();
}

const ruleOf = async (txHash: string) => {
  const row = await fixtures.transfer(txHash);
  return { request: row?.request_id, rule: row?.rule };
};

test('another request’s nonce is put into the log → applied to that request at first, never verified, and an alarm is raised', async () => {
  const [own, other] = [await fixtures.request(), await fixtures.request()];
  const nonceOf = (request: RequestRow) => authorizationNonce(request.reference, 0).toString('hex');
  fixtures.liar.fake.lie = onLogs(({ topics }) => ({
    topics: topics.map((topic) => topic.replace(nonceOf(own), nonceOf(other))),
  }));
  const txHash = await pay(own);
  await settleAll();
  assert.deepEqual(await ruleOf(txHash), { request: other.id, rule: 'authorization' });
  for (const request of [own, other]) assert.equal((await fixtures.events(request)).length, 0);
  fixtures.clock.forward(2 * 60_000);
  await fixtures.turn();
  assert.ok((await raisedAlarms(fixtures.db.sql)).has('chain-unconfirmed:31337'));
});

test('an authorization or a charge that is hidden, so that the amount decides → not verified', async () => {
  const hides = onLogs(({ address, topics }) => {
    const said = topics[0] === authorizationUsedTopic || address === contract.address;
    return said ? { topics: [`0x${'00'.repeat(32)}`, ...topics.slice(1)] } : {};
  });
  for (const act of [pay, charge]) {
    const [own, other] = [await fixtures.request(), await fixtures.request()];
    fixtures.liar.fake.lie = hides;
    const txHash = act === pay ? await pay(own, BigInt(other.usdc_micro)) : await charge(own);
    await settleAll();
    const paid = act === pay ? other : own;
    assert.deepEqual(await ruleOf(txHash), { request: paid.id, rule: 'amount' });
    assert.equal((await fixtures.read(paid)).proof_status, 'attached');
  }
});

test('a charge that is made up → not verified', async () => {
  const own = await fixtures.request();
  fixtures.liar.fake.lie = onLogs(({ address }) => (address === foreign.address ? { address: contract.address } : {}));
  const txHash = await charge(own, foreign);
  await settleAll();
  assert.deepEqual(await ruleOf(txHash), { request: own.id, rule: 'charge' });
  assert.equal((await fixtures.read(own)).proof_status, 'attached');
});

test('the truth → both verified; a receipt that the reading endpoint refuses is read from the other', async () => {
  for (const lie of [honest, noReceipts]) {
    fixtures.liar.fake.lie = lie;
    for (const [act, rule] of acts) {
      const request = await fixtures.request();
      const txHash = await act(request);
      await settleAll();
      assert.deepEqual(await ruleOf(txHash), { request: request.id, rule });
      assert.equal((await fixtures.read(request)).proof_status, lie === honest ? 'verified' : 'attached');
    }
  }
});

test('a receipt that no endpoint returns → the binding of its transfer is read from the logs of its block', async () => {
  for (const [act, rule] of acts) {
    fixtures.liar.fake.lie = honest;
    const request = await fixtures.request();
    const txHash = await act(request);
    const [rpc, whole] = [fixtures.liar.url, truth().rpcUrls[0] ?? ''].map((url) => connectRpc(url)) as [Rpc, Rpc];
    const receipt = await whole.receipt(txHash);
    const header = await whole.header(receipt?.blockNumber ?? 0);
    assert.ok(receipt && header);
    const owner = { partnerId: fixtures.scope.partnerId, accountId: fixtures.merchant.id };
    const owners = new Map([[request.wallet_address, owner]]);
    const logs = receipt.logs.filter(({ topics }) => topics[0] === transferTopic);
    fixtures.liar.fake.lie = noReceipts;
    const reading = { owners, rpcs: [rpc], contract: contract.address };
    const [found] = (await readTransaction(header, txHash, logs, reading, false)) ?? [];
    assert.equal(found?.logsRead, true);
    const reference = Buffer.from(request.reference).toString('hex');
    const nonce = authorizationNonce(request.reference, 0).toString('hex');
    assert.equal(found.authorizationNonce, rule === 'authorization' ? nonce : null);
    assert.equal(found.chargedReference, rule === 'charge' ? reference : null);
  }
});
