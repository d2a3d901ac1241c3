import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Abi,
  concat,
  decodeEventLog,
  encodeDeployData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
} from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { compile } from '../../../contracts/compile.ts';
import { chargeCall, readRevert } from '../../../src/chain/recurring/calls.ts';
import { recurringAbi, recurringAddress } from '../../../src/chain/recurring/contract.ts';
import { type Mandate, mandateTypedData } from '../../../src/chain/recurring/mandate.ts';
import { callRpc, connectRpc, toHex } from '../../../src/chain/rpc.ts';
import { fund, waitMined } from '../../../src/sandbox/wallet.ts';
import { randomAddress } from '../fixtures.ts';
import { type TestChain, testChain } from './chain.ts';

export const randomWord = (): Hex => `0x${randomBytes(32).toString('hex')}`;
const gasLimit = toHex(3_000_000);

export type Outcome = { status: 'done'; gasUsed: number; charged: Charged[] } | { status: 'reverted'; kind: string };
/** A `Charged` log. */
export type Charged = { mandateHash: Hex; paymentReference: Hex; payee: Hex; payer: Hex; token: Hex; amount: bigint };

export type Stage = Awaited<ReturnType<typeof recurringStage>>;

/**
 * A chain with the real USDC contract and the contract of recurring payments, and helpers for their tests. Every
 * address may send, because the chain signs for it.
 */
export async function recurringStage() {
  const node: TestChain = await testChain();
  const url = node.chain.rpcUrls[0] ?? '';
  const usdc = node.chain.tokens[0]?.address as Hex;
  const contract = recurringAddress();
  const chainId = node.chain.chainId;
  const rpc = (method: string, ...params: unknown[]) => callRpc(url, method, params, 20_000);
  await rpc('anvil_autoImpersonateAccount', true);
  await rpc('anvil_setBlockTimestampInterval', 1);

  /** The time of the newest block, in unix seconds. */
  const now = async () =>
    Number(((await rpc('eth_getBlockByNumber', 'latest', false)) as { timestamp: Hex }).timestamp);

  /** Sends a call and waits for its block. `at`: the block's time. The outcome of a revert has its reason. */
  async function send(from: Hex, to: Hex | null, data: Hex, at?: number): Promise<Outcome> {
    const transaction = { from, ...(to ? { to } : {}), data, gas: gasLimit };
    if (at !== undefined) await rpc('evm_setNextBlockTimestamp', toHex(at));
    const hash = (await rpc('eth_sendTransaction', transaction)) as Hex;
    await waitMined(url, hash);
    const receipt = await connectRpc(url).receipt(hash);
    assert.ok(receipt);
    if (!receipt.success) return { status: 'reverted', kind: await reasonOf(hash) };
    const { gasUsed } = (await rpc('eth_getTransactionReceipt', hash)) as { gasUsed: Hex };
    const own = receipt.logs.filter(({ address }) => address === contract);
    const charged = own.flatMap(({ topics, data: words }) => {
      const log = decodeEventLog({ abi: recurringAbi, topics: topics as [Hex], data: words as Hex });
      return log.eventName === 'Charged' ? [log.args as Charged] : [];
    });
    return { status: 'done', gasUsed: Number(gasUsed), charged };
  }

  async function reasonOf(hash: Hex): Promise<string> {
    const trace = (await rpc('debug_traceTransaction', hash, { tracer: 'callTracer' })) as { output?: Hex };
    const revert = readRevert(trace.output ?? '0x');
    return revert.kind === 'too_soon' ? `too_soon ${revert.allowedAt}` : revert.kind;
  }

  /** Sends a call that must succeed. */
  async function act(from: Hex, to: Hex | null, data: Hex) {
    return asDone(await send(from, to, data));
  }

  /** A funded account that has allowed the contract to spend, unless `allowance` is 0n. */
  async function payer(usdcMicro = 1_000_000_000n, allowance = usdcMicro): Promise<PrivateKeyAccount> {
    const account = privateKeyToAccount(randomWord());
    await fund(node.chain, account.address, usdcMicro);
    if (allowance > 0n) await approve(account.address, allowance);
    return account;
  }

  const approve = (from: string, value: bigint) =>
    act(
      from.toLowerCase() as Hex,
      usdc,
      encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [contract, value] }),
    );

  /** An executor with coin for fees. */
  async function executor(): Promise<Hex> {
    const address = randomAddress() as Hex;
    await fund(node.chain, address, 0n);
    return address;
  }

  /** A mandate of the usual kind, open from a day ago for a year. */
  async function makeMandate(from: string, change: Partial<Mandate> = {}): Promise<Mandate> {
    const time = await now();
    return {
      payer: from.toLowerCase() as Hex,
      payee: randomAddress() as Hex,
      token: usdc,
      executor: change.executor ?? (await executor()),
      maxAmount: 20_000_000n,
      minIntervalSeconds: 28 * 86_400,
      startsAt: time - 86_400,
      endsAt: time + 365 * 86_400,
      plan: randomWord(),
      salt: randomWord(),
      ...change,
    };
  }

  const sign = (account: PrivateKeyAccount, mandate: Mandate, chain = chainId, where = contract) =>
    account.signTypedData(mandateTypedData(mandate, chain, where));

  /** Charges by the mandate's executor. */
  async function charge(
    mandate: Mandate,
    signature: Hex,
    amount: bigint,
    change: { reference?: Hex; at?: number } = {},
  ) {
    const { reference = randomWord(), at } = change;
    return send(mandate.executor, contract, chargeCall({ mandate, signature, amount, reference }, null), at);
  }

  async function balanceOf(address: string, token = usdc): Promise<bigint> {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address as Hex] });
    return BigInt(await connectRpc(url).call(token, data));
  }

  /** Deploys a contract of `test/contracts/solidity`. */
  async function deploy(name: string, ...args: unknown[]): Promise<Hex> {
    const { abi, evm } = testContract(name);
    const from = await executor();
    const data = encodeDeployData({ abi: abi as Abi, bytecode: `0x${evm.bytecode.object}`, args });
    const hash = (await rpc('eth_sendTransaction', { from, data, gas: gasLimit })) as Hex;
    await waitMined(url, hash);
    const receipt = (await rpc('eth_getTransactionReceipt', hash)) as { contractAddress: Hex };
    await fund(node.chain, receipt.contractAddress, 0n);
    return receipt.contractAddress.toLowerCase() as Hex;
  }

  /** A permit for the contract, signed by its payer for the real token, as its name and version say. */
  async function permit(account: PrivateKeyAccount, value: bigint, deadline = 2n ** 256n - 1n) {
    const owner = account.address;
    const data = encodeFunctionData({ abi: permitAbi, functionName: 'nonces', args: [owner] });
    const nonce = BigInt(await connectRpc(url).call(usdc, data));
    const signature = await account.signTypedData({
      domain: { name: 'USD Coin', version: '2', chainId, verifyingContract: usdc },
      types: permitTypes,
      primaryType: 'Permit',
      message: { owner, spender: contract, value, nonce, deadline },
    });
    return { value, deadline, signature };
  }

  /** Gives an account the code of a delegate by a transaction of EIP-7702. */
  async function delegate(account: PrivateKeyAccount, to: Hex): Promise<void> {
    const nonce = Number(await rpc('eth_getTransactionCount', account.address, 'latest'));
    const authorization = await account.signAuthorization({ address: to, chainId, nonce: nonce + 1 });
    const signed = await account.signTransaction({
      ...{ type: 'eip7702', chainId, nonce, to: account.address, gas: 200_000n },
      ...{ maxFeePerGas: 10n ** 11n, maxPriorityFeePerGas: 1n, authorizationList: [authorization] },
    });
    await waitMined(url, (await rpc('eth_sendRawTransaction', signed)) as Hex);
    assert.equal(await rpc('eth_getCode', account.address, 'latest'), concat(['0xef0100', to]));
  }

  return {
    node,
    ...{ chainId, contract, usdc, rpc, now, send, act, payer, approve, executor, makeMandate, sign, charge },
    ...{ balanceOf, deploy, permit, delegate },
    stop: () => node.stop(),
  };
}

export const permitAbi = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
]);
const permitTypes = {
  Permit: ['owner address', 'spender address', 'value uint256', 'nonce uint256', 'deadline uint256'].map((field) => {
    const [name = '', type = ''] = field.split(' ');
    return { name, type };
  }),
};

let compiled: ReturnType<typeof compile> | null = null;

/** A contract of `test/contracts/solidity`, compiled once in each process. */
function testContract(name: string) {
  const files = ['Tokens.sol', 'Wallets.sol'];
  const read = (file: string) => readFileSync(join(import.meta.dirname, '../../contracts/solidity', file), 'utf8');
  compiled ??= compile(Object.fromEntries(files.map((file) => [file, read(file)])));
  const found = files.map((file) => compiled?.contracts[file]?.[name]).find((contract) => contract !== undefined);
  assert.ok(found, `there is no ${name}`);
  return found;
}

/** An outcome that must be a success. */
export function asDone(outcome: Outcome) {
  assert.ok(outcome.status === 'done', outcome.status === 'reverted' ? `reverted: ${outcome.kind}` : '');
  return outcome;
}

/** An outcome as a word: `done`, or why it was reverted. */
export const kindOf = (outcome: Outcome) => (outcome.status === 'done' ? 'done' : outcome.kind);
