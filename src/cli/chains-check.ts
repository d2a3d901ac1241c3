import { usesTag } from '../chain/finality.ts';
import { connectRpc, RpcError } from '../chain/rpc.ts';
import { type ChainStatus, chainStatus } from '../chain/status.ts';
import { queryTaggedBlock } from '../chain/tagged-blocks.ts';
import { checkTokens } from '../chain/tokens.ts';
import { allChains, type ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { type RemovedToken, removedTokens } from '../payments/removed-tokens.ts';
import { type RemovedChain, removedChains } from '../payments/silent-chains.ts';
import { type Finding, ifReachable } from './finding.ts';

/**
 * Checks that every endpoint of every chain answers as CHAINS_FILE describes it, that the service reads each chain, and
 * that nothing waits for a chain that is not in the file. So it can also judge a file before the nodes get it. Without
 * the database only the endpoints are checked.
 */
export async function checkChains(ctx: Context): Promise<Finding[]> {
  const configured = allChains(ctx.chains);
  const areLocal = ctx.config.chains === null;
  const [statuses, faults, untagged, removed, tokens] = await Promise.all([
    chainStatus(ctx),
    Promise.all(configured.map(faultOf)),
    Promise.all(configured.map(untaggedOf)),
    ifReachable(removedChains(ctx, true)),
    ifReachable(removedTokens(ctx)),
  ]);
  return [
    ...statuses.map((status, at): Finding => {
      const unread = faults[at] ?? adviceOn(status);
      const advice = (unread !== null && areLocal ? localAdvice(status) : unread) ?? untagged[at] ?? null;
      return { check: `chain ${status.chainId}`, state: advice === null ? 'ok' : 'failed', advice: advice ?? '' };
    }),
    ...(removed ?? []).flatMap(findingOf),
    ...(tokens ?? []).map(tokenFinding),
  ];
}

const faultOf = (chain: ChainConfig): Promise<string | null> =>
  checkTokens(chain).then(
    () => null,
    (error: Error) => error.message,
  );

const answerMs = 3_000;

/** What it means that an endpoint knows no block by a tag that finality uses; null if each does, or does not answer. */
async function untaggedOf({ finality, rpcUrls }: ChainConfig): Promise<string | null> {
  const tags = (['safe', 'finalized'] as const).filter((tag) => usesTag(finality, tag));
  const lacking = await Promise.all(
    rpcUrls.flatMap((url) =>
      tags.map(async (tag) => {
        const rpc = connectRpc(url, answerMs);
        const isKnown = await queryTaggedBlock(rpc, tag).then((number) => number !== null, isOfRpc);
        return isKnown ? [] : [`${rpc.host} names no ${tag} block`];
      }),
    ),
  );
  const all = lacking.flat().join(', ');
  if (all === '') return null;
  return `Finality in CHAINS_FILE uses what an endpoint does not know: ${all}. Payments that need it are never verified. Replace the endpoint in rpc_urls, or count confirmations instead of the tag.`;
}

/** For questions to an endpoint that does not answer: its own finding says that it does not. */
function isOfRpc(error: unknown): true {
  if (error instanceof RpcError) return true;
  throw error;
}

function adviceOn({ reachable, silent, endpoints }: ChainStatus): string | null {
  if (!reachable) {
    const errors = endpoints.map(({ error }) => error).join('; ');
    return `No provider answers: ${errors}. Check rpc_urls in CHAINS_FILE and that they are reachable from here.`;
  }
  const away = endpoints.filter(({ head }) => head === null);
  if (away.length > 0)
    return `Payments are verified only while every endpoint answers, and ${away.map(({ host }) => host).join(', ')} does not: ${away[0]?.error}. Wait for it, or replace it in rpc_urls.`;
  if (silent)
    return 'Nothing was read for a minute: check that a node runs with this chain in its CHAINS_FILE, and look for the chain in its log.';
  return null;
}

/** What helps a chain that the sandbox itself starts: no setting describes it. */
function localAdvice({ reachable, endpoints }: ChainStatus): string {
  if (reachable) return 'The sandbox does not read its local chain: stop the sandbox, and run npm start again.';
  const errors = endpoints.map(({ error }) => error).join('; ');
  return `The local chain does not answer: ${errors}. It runs while the service does: start that with npm start.`;
}

function findingOf({ chainId, mode, waiting }: RemovedChain): Finding[] {
  if (waiting.length === 0) return [];
  const advice =
    mode === null
      ? `It is not in CHAINS_FILE, but something waits for it: ${waiting.join(', ')}. Put it back, with "offered": false for its tokens, until nothing does.`
      : `It is not among the ${mode} chains of CHAINS_FILE, but something in ${mode} mode waits for it: ${waiting.join(', ')}. Move it back there, with "offered": false for its tokens, until nothing does.`;
  return [{ check: mode === null ? `chain ${chainId}` : `chain ${chainId}, ${mode} mode`, state: 'failed', advice }];
}

const tokenFinding = ({ chainId, address, waiting }: RemovedToken): Finding => ({
  check: `token ${address}, chain ${chainId}`,
  state: 'failed',
  advice: `It is not among the tokens of its chain in CHAINS_FILE, but something waits for it: ${waiting.join(', ')}. Put it back, with "offered": false, until nothing does.`,
});
