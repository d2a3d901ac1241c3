import { encodeDeployData, encodeFunctionData, erc20Abi, getContractAddress } from 'viem';
import { callRpc, type Hex, RpcError, toHex } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import { imitator, readArtifact } from './usdc.ts';
import { submit } from './wallet.ts';

/** A token that calls itself USDC and is not: another contract, with 18 decimals. */
export const lookalikeAddress = getContractAddress({ from: imitator, nonce: 0n }).toLowerCase() as Hex;

const decimals = 18;
const unitsPerMicro = 10n ** BigInt(decimals - 6);
const supply = 10n ** 40n;

/**
 * Gives an address look-alike tokens, deploying them first if needed. Only on a local chain.
 *
 * @param micro as if the token had six decimals
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

/** The calldata that moves look-alike tokens. */
export function lookalikeTransfer(to: string, micro: bigint): Hex {
  const args = [to.toLowerCase() as Hex, micro * unitsPerMicro] as const;
  return encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
}

/** Under a fixed nonce, so that two who are at it at once deploy one. */
async function deploy(url: string): Promise<void> {
  const { abi, bytecode } = readArtifact('test/DummyERC20.sol/DummyERC20');
  const data = encodeDeployData({ abi, bytecode, args: ['USD Coin', 'USDC', supply] });
  const transaction = { from: imitator, data, gas: toHex(3_000_000), nonce: toHex(0) };
  try {
    await submit(url, () => callRpc(url, 'eth_sendTransaction', [transaction]));
  } catch (error) {
    // Refused because somebody else was faster: then it stands there.
    if (!(error instanceof RpcError)) throw error;
    if ((await callRpc(url, 'eth_getCode', [lookalikeAddress, 'latest'])) === '0x') throw error;
  }
}
