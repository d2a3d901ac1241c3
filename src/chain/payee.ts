import { encodeFunctionData, erc20Abi, keccak256, stringToHex } from 'viem';
import type { ChainConfig } from '../config/chains.ts';
import { queryWithFailover } from './failover.ts';
import { type Hex, type Rpc, RpcError } from './rpc.ts';

/** Whether a token lets a contract pay a wallet at all, according to the chain. */
export type PayeeWord = 'accepted' | 'refused' | 'unreachable';

const timeoutMs = 5_000;
const gasLimit: Hex = '0x7a120';
/** Nobody's address, which no issuer has blocked. */
const anyone: Hex = `0x${keccak256(stringToHex('quittance: asks whether a token moves')).slice(-40)}`;

/**
 * Asks whether a token's issuer has blocked a payee, or the contract that pays it, and not only a payer. The contract
 * moves nothing from the payee to itself, in a simulation. A token that refuses such a transfer for anyone says nothing
 * about this payee, which counts as accepted.
 */
export async function tryPayee(chain: ChainConfig, token: Hex, contract: Hex, payee: Hex): Promise<PayeeWord> {
  try {
    return await queryWithFailover(chain, timeoutMs, async (rpc) => {
      if (await moves(rpc, token, contract, payee)) return 'accepted';
      return (await moves(rpc, token, anyone, anyone)) ? 'refused' : 'accepted';
    });
  } catch (error) {
    if (error instanceof RpcError) return 'unreachable';
    throw error;
  }
}

/** Whether a wallet can be paid nothing by itself, sent by somebody else. */
async function moves(rpc: Rpc, token: Hex, sender: Hex, wallet: Hex): Promise<boolean> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [wallet, wallet, 0n] });
  try {
    await rpc.tryCall({ from: sender, to: token, data, gas: gasLimit });
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return false;
    throw error;
  }
}
