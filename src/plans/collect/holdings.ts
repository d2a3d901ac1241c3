import { type Holdings, readHoldings } from '../../chain/holdings.ts';
import { connectRpc, type Hex, RpcError } from '../../chain/rpc.ts';
import type { ChainConfig } from '../../config/chains.ts';

/** Which token and contract an allowance is for. */
type AllowanceOf = { token_address: Hex; contract_address: Hex };

/**
 * Payers' balances of a mandate's token and their allowances for its contract. Null if no endpoint answers.
 *
 * @param payers at most `maxWallets`
 */
export async function holdingsOf(
  chain: ChainConfig,
  { token_address: token, contract_address: contract }: AllowanceOf,
  payers: readonly Hex[],
): Promise<Holdings[] | null> {
  for (const url of chain.rpcUrls) {
    try {
      return await readHoldings(connectRpc(url), token, contract, payers);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return null;
}
