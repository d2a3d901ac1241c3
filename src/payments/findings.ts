import { silentChains } from '../chain/silence.ts';
import { type ChainConfig, nameOfChain } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { AttemptLimit } from '../lib/concurrency/attempts.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';
import { modeOf } from '../lib/mode.ts';
import { withinOr } from '../lib/time.ts';
import type { RequestRow } from '../requests/store.ts';
import { type AuthorizationProgress, readAuthorizations } from './authorized/progress.ts';
import { type PaymentProgress, readProgress, type TransferProgress } from './proof/progress.ts';
import { readSubmitted, refreshSubmitted, type SubmittedTransaction } from './submitted/follow.ts';
import { findMisdirected, type MisdirectedPayment } from './unmatched/misdirected.ts';

/**
 * Everything that explains why a request is not paid although somebody may have tried. The customer's page shows it as
 * one state, timelines show it item by item. Only `progress` is proved.
 */
export type Findings = {
  progress: PaymentProgress;
  /** Transactions that somebody reported, newest first. */
  submitted: SubmittedTransaction[];
  /** The authorizations that its customer signed. */
  authorizations: AuthorizationProgress[];
  /** Money sent with other tokens or on other networks. */
  misdirected: MisdirectedPayment[];
  /** Chains of the mode that cannot be read now. `readAt` is null for a chain that was never read. */
  silent: { chain: ChainConfig; readAt: Date | null }[];
};

type RequestToExplain = Pick<RequestRow, 'id' | 'proof_status'>;

/**
 * Reads what is known of the payment of a request.
 *
 * @param justFound what was found on the chains just now. Then the chains are also queried about what was only
 * reported, which may take three seconds. Null reads only the database
 */
export async function readFindings(
  ctx: Context,
  scope: Scope,
  { id, proof_status }: RequestToExplain,
  justFound: MisdirectedPayment[] | null,
): Promise<Findings> {
  const refreshIfDue = justFound && proof_status === 'none' ? refreshSubmitted : readSubmitted;
  const mode = modeOf(scope.testMode);
  const [progress, submitted, authorizations, silent] = await Promise.all([
    readProgress(ctx, scope, id),
    refreshIfDue(ctx, scope, id),
    readAuthorizations(ctx, scope, id),
    silentChains(ctx, mode),
  ]);
  const misled = progress.unmatched.filter(({ reason }) => reason === 'wrong_network');
  const misdirected = [...misled.map((one) => toMisdirected(ctx.chains[mode], one)), ...(justFound ?? [])];
  return { progress, submitted, authorizations, misdirected, silent };
}

/** What the watcher found where the wallet cannot be paid: an accepted token, so its name is known. */
function toMisdirected(chains: ChainConfig[], transfer: TransferProgress): MisdirectedPayment {
  const { chainId, txHash, tokenAddress } = transfer;
  const chain = chains.find((one) => one.chainId === chainId);
  const chainName = nameOfChain(chains, chainId);
  const symbol = chain?.tokens.find(({ address }) => address === tokenAddress)?.symbol ?? null;
  return { kind: 'wrong_network', chainId, chainName, tokenAddress, symbol, txHash };
}

/** How long a page waits for the chains. Later answers are kept for ten seconds. */
const chainWaitMs = 1_500;
/** How long after the end of a request its money sent by mistake is still searched for. */
const searchedForMs = dayMs;
/** How many pages of one partner may query the chains, per minute and process. */
const queryLimit = new AttemptLimit(60, minuteMs);

/**
 * As `readFindings`, for the page of a partner or merchant. It queries the chains once while it is rendered, if the
 * request is not paid, has not ended long ago, and the partner's limit allows it.
 */
export async function queryFindings(
  ctx: Context,
  scope: Scope,
  row: RequestToExplain & Pick<RequestRow, 'expires_at'>,
): Promise<Findings> {
  const now = ctx.clock.now();
  const isSought = row.proof_status === 'none' && now.getTime() < row.expires_at.getTime() + searchedForMs;
  if (!isSought || !queryLimit.take(`${scope.partnerId} ${scope.testMode}`, now))
    return readFindings(ctx, scope, row, null);
  const found = findMisdirected(ctx, scope, row.id).catch((error): MisdirectedPayment[] => {
    ctx.log.warn({ err: error }, 'payments sent by mistake could not be looked up');
    return [];
  });
  return readFindings(ctx, scope, row, await withinOr(found, chainWaitMs, []));
}
