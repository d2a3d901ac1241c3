import { encodeDeployData, encodeFunctionData, erc20Abi, getContractAddress } from 'viem';
import { callRpc, type Hex, RpcError, toHex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import { imitator, readArtifact } from './usdc.ts';
import { submit } from './wallet.ts';

/** A fake token with the name USDC: another contract, with 18 decimals. */
export const lookalikeAddress = getContractAddress({ from: imitator, nonce: 0n }).toLowerCase() as Hex;

const decimals = 18;
const unitsPerMicro = 10n ** BigInt(decimals - 6);
const supply = 10n ** 40n;

/**
 * Gives an address look-alike tokens, deploying them first if needed. Only on a local chain.
 *
 * @param micro the amount as if the token had six decimals
 */
export async function fundLookalike(chain: ChainConfig, address: string, micro: bigint): Promise<void> {
  const [url] = chain.rpcUrls;
  if (!url) throw new Error(`The chain ${chain.chainId} has no endpoint.`);
  if ((await callRpc(url, 'eth_getCode', [lookalikeAddress, 'latest'])) === '0x') await deploy(url);
  const data = lookalikeTransfer(address, micro);
  await submit(url, () =>
    callRpc(url, 'eth_sendTransaction', [{ from: imitator, to: lookalikeAddress, data, gas: toHex(200_000) }]),
  );
}

/** The calldata of a transfer of look-alike tokens; `micro` is the amount as if the token had six decimals. */
export function lookalikeTransfer(to: string, micro: bigint): Hex {
  const args = [to.toLowerCase() as Hex, micro * unitsPerMicro] as const;
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
}

/** Deploys the token with a fixed nonce, so that two concurrent calls deploy only one. */
async function deploy(url: string): Promise<void> {
  const { abi, bytecode } = readArtifact('test/DummyERC20.sol/DummyERC20');
  const data = encodeDeployData({ abi, bytecode, args: ['USD Coin', 'USDC', supply] });
  const transaction = { from: imitator, data, gas: toHex(3_000_000), nonce: toHex(0) };
  try {
    await submit(url, () => callRpc(url, 'eth_sendTransaction', [transaction]));
  } catch (error) {
    // If another call was faster, ours is refused, but the contract exists.
    if (!(error instanceof RpcError)) throw error;
    if ((await callRpc(url, 'eth_getCode', [lookalikeAddress, 'latest'])) === '0x') throw error;
  }
}
