import { encodeFunctionData, erc20Abi, keccak256, stringToHex } from 'viem';
import type { ChainConfig } from '../config/chains.ts';
import type { Hex, Rpc } from './rpc.ts';
import { queryVerdict, succeeds, type Verdict } from './verdict.ts';

const timeoutMs = 5_000;
const gasLimit: Hex = '0x7a120';
/** Nobody's address, which no issuer has blocked. */
const anyone: Hex = `0x${keccak256(stringToHex('quittance: asks whether a token moves')).slice(-40)}`;

/**
 * Asks whether a token's issuer has blocked a payee, or the contract that pays it, and not only a payer. The contract
 * moves nothing from the payee to itself, in a simulation. A token that refuses such a transfer for anyone says nothing
 * about this payee, which counts as accepted.
 */
export function tryPayee(chain: ChainConfig, token: Hex, contract: Hex, payee: Hex): Promise<Verdict> {
  return queryVerdict(
    chain,
    timeoutMs,
    async (rpc) => (await moves(rpc, token, contract, payee)) || !(await moves(rpc, token, anyone, anyone)),
  );
}

/** Whether a wallet can be paid nothing by itself, sent by somebody else. */
function moves(rpc: Rpc, token: Hex, sender: Hex, wallet: Hex): Promise<boolean> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [wallet, wallet, 0n] });
  return succeeds(rpc, { from: sender, to: token, data, gas: gasLimit });
}
