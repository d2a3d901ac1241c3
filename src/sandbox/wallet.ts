import { encodeFunctionData, erc20Abi, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { callRpc, type Hex, RpcError, toHex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import { pause } from '../lib/time.ts';
import { whileMiningPaused } from './pause-mining.ts';
import { minter } from './usdc.ts';

export { defaultWallet } from './usdc.ts';

const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);
const gasLimit = 500_000n;

/** Lower case, because viem would treat another casing as a wrong checksum. */
const asHex = (address: string) => address.toLowerCase() as Hex;

/**
 * The first endpoint and the first token of a local chain.
 *
 * @throws Error if it has none
 */
export function endpointOf(chain: ChainConfig): { url: string; usdc: Hex } {
  const [url] = chain.rpcUrls;
  const [token] = chain.tokens;
  if (!url || !token) throw new Error(`The chain ${chain.chainId} has no endpoint or no token.`);
  return { url, usdc: token.address };
}

/**
 * Gives an address newly minted USDC, and ether for gas. Only on a local chain.
 *
 * @param usdcMicro 0n gives ether only
 * @returns the hash of the minting transaction; null if nothing was minted
 */
export async function fund(chain: ChainConfig, address: string, usdcMicro: bigint): Promise<string | null> {
  const { url, usdc } = endpointOf(chain);
  await callRpc(url, 'anvil_setBalance', [address, toHex(100n * 10n ** 18n)]);
  if (usdcMicro === 0n) return null;
  const data = encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [asHex(address), usdcMicro] });
  const transaction = { from: minter, to: usdc, data, gas: toHex(gasLimit) };
  return submit(url, () => callRpc(url, 'eth_sendTransaction', [transaction]));
}

/**
 * A payment as a wallet makes it. `reference` is appended to the calldata: the token ignores it, the service reads it.
 */
export type UsdcPayment = { privateKey: Hex; to: string; usdcMicro: bigint; reference?: Uint8Array };

/**
 * Sends USDC from a wallet by a signed ERC-20 transfer.
 *
 * @returns the hash of the mined transaction
 * @throws Error if it reverts, for instance for lack of funds
 */
export async function sendUsdc(chain: ChainConfig, payment: UsdcPayment): Promise<string> {
  return sendTransaction(chain, payment.privateKey, endpointOf(chain).usdc, transferCall(payment));
}

/** The calldata of a payment. */
export function transferCall(payment: Omit<UsdcPayment, 'privateKey'>): Hex {
  const args = [asHex(payment.to), payment.usdcMicro] as const;
  const call = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  return `${call}${Buffer.from(payment.reference ?? []).toString('hex')}`;
}

/**
 * Signs and sends any call from a wallet.
 *
 * @returns the hash of the mined transaction
 * @throws Error if it reverts
 */
export async function sendTransaction(chain: ChainConfig, privateKey: Hex, to: string, data: Hex): Promise<string> {
  const { url } = endpointOf(chain);
  return submit(url, async () => callRpc(url, 'eth_sendRawTransaction', [await signCall(chain, privateKey, to, data)]));
}

/**
 * Signs a call without sending it.
 *
 * @param change `nonce` instead of the wallet's next one; `feeFactor` to outbid a transaction with the same nonce
 */
export async function signCall(
  chain: ChainConfig,
  privateKey: Hex,
  to: string,
  data: Hex,
  change: { nonce?: number; feeFactor?: bigint } = {},
): Promise<Hex> {
  const { url } = endpointOf(chain);
  const account = privateKeyToAccount(privateKey);
  const nonce = change.nonce ?? Number(await callRpc(url, 'eth_getTransactionCount', [account.address, 'pending']));
  const gasPrice = BigInt((await callRpc(url, 'eth_gasPrice', [])) as string);
  const factor = change.feeFactor ?? 1n;
  return account.signTransaction({
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    to: asHex(to),
    data,
    gas: gasLimit,
    maxFeePerGas: gasPrice * 2n * factor,
    maxPriorityFeePerGas: factor,
  });
}

/**
 * Sends a transaction and waits until it is mined. Concurrent payments of one wallet can take the same nonce; anvil
 * then silently drops one of them, and it is sent again.
 *
 * @returns the hash of the mined transaction
 * @throws Error if it reverts
 */
export async function submit(url: string, send: () => Promise<unknown>): Promise<string> {
  for (let attempt = 1; attempt <= 20; attempt++) {
    const hash = await sendOnce(send);
    const status = await waitMined(url, hash);
    if (status === '0x1') return hash;
    if (status) throw new Error(`The transaction ${hash} was mined but failed. Does the wallet have enough USDC?`);
  }
  throw new Error('The local chain dropped the transaction repeatedly.');
}

/**
 * Waits until a transaction is mined. Returns the status in its receipt (`0x1`: success, `0x0`: reverted), or null if
 * the chain dropped it.
 *
 * @throws Error if it is not mined in time
 */
export async function waitMined(url: string, hash: string, limitMs = 10_000): Promise<string | null> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const known = await callRpc(url, 'eth_getTransactionByHash', [hash]);
    const receipt = (await callRpc(url, 'eth_getTransactionReceipt', [hash])) as { status: string } | null;
    if (receipt) return receipt.status;
    if (known === null) return null;
    if (performance.now() >= deadline) throw new Error(`The transaction ${hash} was not mined within ${limitMs} ms.`);
    await pause(20);
  }
}

/**
 * Sends a transaction without waiting for its block. Tries again, up to 20 times, while another transaction of the
 * wallet has taken its nonce.
 *
 * @returns its hash
 * @throws RpcError if the chain refuses it for another reason
 */
export async function sendOnce(send: () => Promise<unknown>): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await send()) as string;
    } catch (error) {
      const taken =
        error instanceof RpcError && /nonce too low|underpriced|already (imported|known)/i.test(error.message);
      if (!taken || attempt === 20) throw error;
    }
    await pause(10 * attempt);
  }
}

/** Mines empty blocks on a local chain. */
export async function mine(chain: ChainConfig, blocks: number): Promise<void> {
  await callRpc(endpointOf(chain).url, 'anvil_mine', [toHex(blocks)], 20_000);
}

/**
 * Replaces the last blocks of a local chain by as many empty ones, without their transactions. Transactions that arrive
 * meanwhile are mined afterwards.
 *
 * @throws Error if the chain has no state that old, for example after a restart
 */
export async function reorg(chain: ChainConfig, depth: number): Promise<void> {
  const { url } = endpointOf(chain);
  try {
    await whileMiningPaused(url, () => callRpc(url, 'anvil_reorg', [depth, []], 20_000));
  } catch (error) {
    if (!(error instanceof RpcError) || error.kind !== 'refused') throw error;
    throw new Error(
      `The local chain cannot go back ${depth} blocks, because it knows only states since its start. Pay again, or use a smaller depth.`,
      { cause: error },
    );
  }
}

/** The USDC balance of an address, in micro units. */
export async function usdcBalance(chain: ChainConfig, address: string): Promise<bigint> {
  const { url, usdc } = endpointOf(chain);
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [asHex(address)] });
  return BigInt((await callRpc(url, 'eth_call', [{ to: usdc, data }, 'latest'])) as string);
}

/** The number of a chain's newest block. */
export async function headNumber(chain: ChainConfig): Promise<number> {
  return Number(await callRpc(endpointOf(chain).url, 'eth_blockNumber', []));
}
