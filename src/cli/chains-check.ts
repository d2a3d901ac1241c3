import { type ChainStatus, chainStatus } from '../chain/status.ts';
import { checkTokens } from '../chain/tokens.ts';
import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { type RemovedChain, removedChains } from '../payments/silent-chains.ts';
import { type Finding, ifReachable } from './finding.ts';

/**
 * Checks that every endpoint of every chain answers as CHAINS_FILE describes it, that the service reads each chain, and
 * that nothing waits for a chain that is not in the file. So it can also judge a file before the nodes get it. Without the
 * database only the endpoints are checked.
 */
export async function checkChains(ctx: Context): Promise<Finding[]> {
  const configured = allChains(ctx.chains);
  const [statuses, faults, removed] = await Promise.all([
    chainStatus(ctx),
    Promise.all(configured.map(faultOf)),
    ifReachable(removedChains(ctx)),
  ]);
  return [
    ...statuses.map((status, at): Finding => {
      const advice = faults[at] ?? adviceOn(status);
      return { check: `chain ${status.chainId}`, state: advice === null ? 'ok' : 'failed', advice: advice ?? '' };
    }),
    ...(removed ?? []).flatMap(findingOf),
  ];
}

const faultOf = (chain: Parameters<typeof checkTokens>[0]): Promise<string | null> =>
  checkTokens(chain).then(
    () => null,
    (error: Error) => error.message,
  );

function adviceOn({ reachable, silent, endpoints }: ChainStatus): string | null {
  if (!reachable) return 'No provider answers: check rpc_urls in CHAINS_FILE and that they are reachable from here.';
  const away = endpoints.filter(({ head }) => head === null);
  if (away.length > 0)
    return `Payments are verified only while every endpoint answers, and ${away.map(({ host }) => host).join(', ')} does not: ${away[0]?.error}. Wait for it, or replace it in rpc_urls.`;
  if (silent)
    return 'Nothing was read for a minute: check that a node runs with this chain in its CHAINS_FILE, and look for the chain in its log.';
  return null;
}

function findingOf({ chainId, waiting }: RemovedChain): Finding[] {
  if (waiting.length === 0) return [];
  const advice = `It is not in CHAINS_FILE, but something waits for it: ${waiting.join(', ')}. Put it back, with "offered": false for its tokens, until nothing does.`;
  return [{ check: `chain ${chainId}`, state: 'failed', advice }];
}
