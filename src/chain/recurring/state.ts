import { decodeFunctionResult, encodeFunctionData } from 'viem';
import { type Hex, type Rpc, RpcError } from '../rpc.ts';
import { recurringAbi, recurringCode } from './contract.ts';

/** What a chain reports about a mandate. */
export type MandateStatus = {
  revoked: boolean;
  /** Unix seconds; null before the first charge. */
  lastChargedAt: number | null;
};

/**
 * Reads what happened under a mandate, as of the provider's newest block.
 *
 * @throws RpcError
 */
export async function readMandateStatus(rpc: Rpc, contract: Hex, mandateHash: Hex): Promise<MandateStatus> {
  const data = encodeFunctionData({ abi: recurringAbi, functionName: 'statusOf', args: [mandateHash] });
  const answer = await callFully(rpc, contract, data, 2);
  const [lastChargedAt, revoked] = decodeFunctionResult({ abi: recurringAbi, functionName: 'statusOf', data: answer });
  return { revoked, lastChargedAt: lastChargedAt === 0n ? null : Number(lastChargedAt) };
}

/** An address without code gives an empty answer, which must not be read as zeros. */
async function callFully(rpc: Rpc, contract: Hex, data: Hex, words: number): Promise<Hex> {
  const answer = await rpc.call(contract, data);
  if (answer.length !== 2 + 64 * words) {
    throw new RpcError('malformed', `${rpc.host}: the contract of recurring payments at ${contract} does not answer`);
  }
  return answer as Hex;
}

/**
 * What is at an address. `deployed`: the contract, exactly as in the artifact; `foreign`: other code; `absent`: none.
 */
export type DeployedCode = 'deployed' | 'foreign' | 'absent';

/**
 * Compares the code at an address with the artifact's, byte by byte.
 *
 * @throws RpcError
 */
export async function readDeployedCode(rpc: Rpc, chainId: number, contract: Hex): Promise<DeployedCode> {
  const code = await rpc.code(contract);
  if (code === '0x') return 'absent';
  return code === recurringCode(chainId, contract) ? 'deployed' : 'foreign';
}
