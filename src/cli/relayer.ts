import { formatEther } from 'viem';
import { relayerAddresses } from '../chain/relay/relay.ts';
import { type RelayerStatus, relayerStatus } from '../chain/relay/status.ts';
import type { Context } from '../context.ts';
import { type Finding, ifReachable } from './finding.ts';

/**
 * Checks what the relayer needs: a key, the key that active mandates name, coin, and a chain that answers; without the
 * database only the first.
 */
export async function checkRelayer(ctx: Context): Promise<Finding[]> {
  const rows = await ifReachable(
    ctx.db.sql<{ executor: string; many: number }[]>`
      select executor, count(*)::int as many from mandates where state = 'active' group by executor`,
  );
  const known: readonly string[] = relayerAddresses(ctx);
  const missing = (rows ?? []).filter(({ executor }) => !known.includes(executor));
  if (known.length === 0 && missing.length === 0) {
    const advice = 'No key pays fees, so nothing is charged automatically or paid without gas: set RELAYER_KEYS.';
    return [{ check: 'relayer', state: 'attention', advice }];
  }
  return [
    ...missing.map(({ executor, many }) => ({
      check: `relayer ${executor}`,
      state: 'failed' as const,
      advice: `${many} agreed automatic charges can only be made by this address: add its key to RELAYER_KEYS again.`,
    })),
    ...((await ifReachable(relayerStatus(ctx))) ?? []).map(findingOf),
  ];
}

function findingOf(status: RelayerStatus): Finding {
  const { chain, address, blocker, stuck, trouble } = status;
  const check = `relayer ${address}, chain ${chain.chainId}`;
  const coin = (wei: bigint) => `${formatEther(wei)} ${chain.coin ?? 'ETH'}`;
  const advices = {
    no_key: 'Calls of this address are under way, and its key is missing: put it back into RELAYER_KEYS.',
    not_ready: 'The chain has not answered yet, or not for five minutes: see the check of the chain.',
    low_coin: `It has ${coin(status.balanceWei ?? 0n)} and needs ${coin(status.minBalanceWei)} beyond what is under way: fund it.`,
    fees: 'Gas costs more than the limit: wait, or raise max_fee_gwei of the chain in CHAINS_FILE.',
  };
  if (blocker) return { check, state: 'attention', advice: advices[blocker] };
  if (stuck === 0) return { check, state: 'ok', advice: '' };
  const reason = trouble === null ? '' : ` A provider says: ${trouble}`;
  return { check, state: 'attention', advice: `${stuck} transactions have not been mined for ten minutes.${reason}` };
}
