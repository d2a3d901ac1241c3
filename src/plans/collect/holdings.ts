import { decodeFunctionResult, encodeFunctionData, erc20Abi } from 'viem';
import { connectRpc, type Hex, RpcError } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';
import type { MandateRow } from '../mandates/read.ts';
import type { Holdings } from './rules.ts';

/** What a mandate's payer holds, and lets the contract spend. Null where no endpoint answers. */
export async function readHoldings(
  chain: ChainConfig,
  { payer, token_address: token, contract_address: contract }: MandateRow,
): Promise<Pick<Holdings, 'balanceMicro' | 'allowanceMicro'> | null> {
  for (const url of chain.rpcUrls) {
    try {
      const rpc = connectRpc(url);
      const read = async (functionName: 'balanceOf' | 'allowance', args: readonly Hex[]) => {
        const data = encodeFunctionData({ abi: erc20Abi, functionName, args: args as never });
        const answer = (await rpc.call(token, data)) as Hex;
        return BigInt(decodeFunctionResult({ abi: erc20Abi, functionName, data: answer }));
      };
      const [balanceMicro, allowanceMicro] = await Promise.all([
        read('balanceOf', [payer]),
        read('allowance', [payer, contract]),
      ]);
      return { balanceMicro, allowanceMicro };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return null;
}
