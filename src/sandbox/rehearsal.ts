import { randomBytes, randomUUID } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';
import { acquireLease, releaseLease } from '../chain/reader/lease.ts';
import { callRpc, type Hex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Database } from '../db/connection.ts';
import { pause } from '../lib/time.ts';
import { whileMiningPaused } from './pause-mining.ts';
import { endpointOf, sendOnce, signCall, transferCall, type UsdcPayment, waitMined } from './wallet.ts';

/** A new wallet for each payment, so that concurrent payments do not compete for nonces. */
export function freshWallet(): { privateKey: Hex; address: Hex } {
  const privateKey: Hex = `0x${randomBytes(32).toString('hex')}`;
  return { privateKey, address: privateKeyToAccount(privateKey).address.toLowerCase() as Hex };
}

/** With a chain's id, the name of the lease for rehearsals on it. While it is held, no empty blocks are mined. */
const rehearsalPrefix = 'rehearsal-';
const termMs = 10_000;
const waitMs = 10_000;
const retryMs = 50;

/**
 * Runs work on a local chain, such as a test payment, while no node runs another rehearsal on it or mines empty blocks.
 *
 * @param work must end within 10 s, when the lease expires
 * @param maxWaitMs how long to wait until the chain is free
 * @returns null if it was not free by then
 */
export async function whileRehearsing<T>(
  db: Database,
  chain: ChainConfig,
  work: () => Promise<T>,
  maxWaitMs = waitMs,
): Promise<{ result: T } | null> {
  const deadline = performance.now() + maxWaitMs;
  let lease = await acquireLease(db, rehearsalPrefix + chain.chainId, randomUUID(), termMs);
  while (!lease) {
    if (performance.now() >= deadline) return null;
    await pause(retryMs);
    lease = await acquireLease(db, rehearsalPrefix + chain.chainId, randomUUID(), termMs);
  }
  try {
    return { result: await work() };
  } finally {
    await releaseLease(db, lease);
  }
}

/**
 * Sends a payment that the token refuses.
 *
 * @returns the hash of the transaction, which was mined and reverted
 * @throws Error if it succeeded
 */
export async function sendReverting(chain: ChainConfig, payment: UsdcPayment): Promise<string> {
  const { url, usdc } = endpointOf(chain);
  const signed = await signCall(chain, payment.privateKey, usdc, transferCall(payment));
  const hash = await sendOnce(() => callRpc(url, 'eth_sendRawTransaction', [signed]));
  if ((await waitMined(url, hash)) !== '0x0') throw new Error(`The transaction ${hash} was to fail, but did not.`);
  return hash;
}

/**
 * Sends a payment as the second transaction of a new wallet, so the chain knows it but cannot mine it yet.
 *
 * @returns its hash, and a function that sends the first transaction, so that both are mined
 */
export async function sendAhead(
  chain: ChainConfig,
  payment: UsdcPayment,
): Promise<{ txHash: string; release(): Promise<void> }> {
  const { url, usdc } = endpointOf(chain);
  const second = await signCall(chain, payment.privateKey, usdc, transferCall(payment), { nonce: 1 });
  const txHash = (await callRpc(url, 'eth_sendRawTransaction', [second])) as string;
  return {
    txHash,
    release: async () => {
      const { address } = privateKeyToAccount(payment.privateKey);
      const first = await signCall(chain, payment.privateKey, address, '0x', { nonce: 0 });
      await callRpc(url, 'eth_sendRawTransaction', [first]);
      await waitMined(url, txHash);
    },
  };
}

const deepest = 8;

type Block = { transactions: string[] };

/**
 * Replaces the last blocks of a local chain, from a transaction's block on, by blocks with the same other transactions
 * but without this one.
 *
 * @throws Error if the transaction is in none of the last 8 blocks
 */
export async function reorgAway(chain: ChainConfig, txHash: string): Promise<void> {
  const { url } = endpointOf(chain);
  await whileMiningPaused(url, () => replaceWithout(url, txHash));
}

async function replaceWithout(url: string, txHash: string): Promise<void> {
  const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [txHash])) as { blockNumber: Hex } | null;
  const head = Number(await callRpc(url, 'eth_blockNumber', []));
  const first = Number(receipt?.blockNumber ?? 0);
  const depth = head - first + 1;
  if (!receipt || depth > deepest)
    throw new Error(`The transaction ${txHash} is in none of the last ${deepest} blocks.`);
  const kept: [raw: unknown, block: number][] = [];
  for (let at = 0; at < depth; at++) {
    const block = (await callRpc(url, 'eth_getBlockByNumber', [`0x${(first + at).toString(16)}`, false])) as Block;
    for (const hash of block.transactions) {
      if (hash !== txHash) kept.push([await callRpc(url, 'eth_getRawTransactionByHash', [hash]), at]);
    }
  }
  await callRpc(url, 'anvil_reorg', [depth, kept], 20_000);
}
