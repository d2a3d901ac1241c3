import { chainsInTrouble } from '../chain/trouble.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { AttemptLimit } from '../lib/attempts.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';
import { modeOf } from '../lib/mode.ts';
import { pause } from '../lib/time.ts';
import type { RequestRow } from '../requests/store.ts';
import { type HandedInProgress, readHandedIn } from './authorized/progress.ts';
import { type PaymentProgress, readProgress, type TransferProgress } from './proof/progress.ts';
import { readSubmitted, refreshSubmitted, type SubmittedTransaction } from './submitted/follow.ts';
import { findMisdirected, type MisdirectedPayment } from './unmatched/misdirected.ts';

/**
 * All that explains why a request is not paid although somebody may have tried: what its customer's page tells in one
 * state, and timelines one after the other. Only `progress` is proved.
 */
export type Findings = {
  progress: PaymentProgress;
  /** Transactions that somebody reported, newest first. */
  submitted: SubmittedTransaction[];
  /** What its customer signed. */
  handedIn: HandedInProgress[];
  /** Other tokens and other networks. */
  misdirected: MisdirectedPayment[];
  /** Chains of the mode that cannot be read now; without a time, those that never were. */
  silent: { chain: ChainConfig; readAt: Date | null }[];
};

type Sought = Pick<RequestRow, 'id' | 'proof_status'>;

/**
 * What is known of the payment of a request.
 *
 * @param heard what was found on the chains just now. Then they are asked too about what was only reported, which may
 *   take three seconds. Null reads the database alone
 */
export async function readFindings(
  ctx: Context,
  scope: Scope,
  { id, proof_status }: Sought,
  heard: MisdirectedPayment[] | null,
): Promise<Findings> {
  const refreshIfDue = heard && proof_status === 'none' ? refreshSubmitted : readSubmitted;
  const mode = modeOf(scope.testMode);
  const [progress, submitted, handedIn, silent] = await Promise.all([
    readProgress(ctx, scope, id),
    refreshIfDue(ctx, scope, id),
    readHandedIn(ctx, scope, id),
    chainsInTrouble(ctx, mode),
  ]);
  const misled = progress.unmatched.filter(({ reason }) => reason === 'wrong_network');
  const misdirected = [...misled.map((one) => toMisdirected(ctx.chains[mode], one)), ...(heard ?? [])];
  return { progress, submitted, handedIn, misdirected, silent };
}

/** What the watcher found where the wallet cannot be paid: an accepted token, so its name is known. */
function toMisdirected(chains: ChainConfig[], { chainId, txHash }: TransferProgress): MisdirectedPayment {
  const chain = chains.find((one) => one.chainId === chainId);
  const token = chain?.tokens[0];
  const chainName = chain?.name ?? String(chainId);
  const [tokenAddress, symbol] = [token?.address ?? '', token?.symbol ?? null];
  return { kind: 'wrong_network', chainId, chainName, tokenAddress, symbol, txHash };
}

/** A page waits so long for the chains; what they answer later is kept for ten seconds. */
const lookMs = 1_500;
/** Money that was sent by mistake is looked for until so long after a request has ended. */
const lookedForMs = dayMs;
/** Pages of one partner that ask the chains, in a minute and a process. */
const looks = new AttemptLimit(60, minuteMs);

/**
 * The same for the page of a partner or merchant, which asks the chains once while it is made: of a request that is
 * not paid and has not long ended, and no more often than a partner may.
 */
export async function lookForFindings(
  ctx: Context,
  scope: Scope,
  row: Sought & Pick<RequestRow, 'expires_at'>,
): Promise<Findings> {
  const now = ctx.clock.now();
  const isSought = row.proof_status === 'none' && now.getTime() < row.expires_at.getTime() + lookedForMs;
  if (!isSought || !looks.take(`${scope.partnerId} ${scope.testMode}`, now)) return readFindings(ctx, scope, row, null);
  const enough = new AbortController();
  const found = findMisdirected(ctx, scope, row.id).catch((error): MisdirectedPayment[] => {
    ctx.log.warn({ err: error }, 'misdirected money could not be looked up');
    return [];
  });
  const heard = await Promise.race([found, pause(lookMs, enough.signal).then((): MisdirectedPayment[] => [])]);
  enough.abort();
  return readFindings(ctx, scope, row, heard);
}
