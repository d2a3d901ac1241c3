import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Mode } from '../../lib/mode.ts';
import { modes } from '../../lib/mode.ts';
import type { Hex } from '../rpc.ts';
import { type Blocker, blockerOf, relayerAddresses } from './account.ts';
import { selectAccount, selectAddresses } from './account-store.ts';
import { selectPending, selectSpentToday } from './status-store.ts';

/** One of the relayer's addresses on one chain, as the loop last saw it. Amounts are in wei of the chain's coin. */
export type RelayerStatus = {
  chain: ChainConfig;
  mode: Mode;
  address: Hex;
  /** Why it sends nothing now; null when it can. */
  blocker: Blocker | null;
  /** Null before the chain has answered. */
  balanceWei: bigint | null;
  minBalanceWei: bigint;
  /** Calls that are not mined, and those that have not been for ten minutes. */
  pending: number;
  stuck: number;
  /** Why the first of them is not signed or taken, in the words of a signer or provider. */
  trouble: string | null;
  /** What all addresses of the chain have spent and reserved since midnight (UTC), for all partners. */
  spentTodayWei: bigint;
};

/** Every address of the relayer on every chain, and those that still have calls under way. Queries no provider. */
export async function relayerStatus(ctx: Context): Promise<RelayerStatus[]> {
  const { sql } = ctx.db;
  const all = modes.flatMap((mode) => ctx.chains[mode].map((chain) => ({ mode, chain })));
  const spent = await selectSpentToday(
    sql,
    all.map(({ chain }) => chain.chainId),
  );
  const rows: RelayerStatus[] = [];
  for (const { mode, chain } of all) {
    const { chainId } = chain;
    const configured = relayerAddresses(ctx);
    for (const address of new Set([...configured, ...(await selectAddresses(sql, chainId))])) {
      const account = await selectAccount(sql, { chainId, address });
      rows.push({
        ...{ chain, mode, address },
        blocker: configured.includes(address) ? blockerOf(account, chain) : 'no_key',
        balanceWei: account?.balanceWei ?? null,
        minBalanceWei: limitsOf(chain).minBalanceWei,
        ...(await selectPending(sql, { chainId, address })),
        spentTodayWei: spent.get(chainId) ?? 0n,
      });
    }
  }
  return rows;
}
