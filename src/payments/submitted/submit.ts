import { scopeOfRequest } from '../../auth/scope.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { refuse } from '../../errors.ts';
import { isHash32 } from '../../lib/ids.ts';
import { modeOf } from '../../lib/mode.ts';
import { readRequest } from '../../requests/read.ts';
import { ChainLimit } from '../chain-limit.ts';
import { toPayable } from '../decide.ts';
import { type Outcome, rejectedOutcome } from '../outcome.ts';
import { canApply, isMint, type Payable } from '../rules.ts';
import { selectByHash, toTransfer } from '../store.ts';
import { isSameTransfer, keyOf, selectCounted, selectWithRefund, type TransferRow } from '../transfers.ts';
import { storeSubmitted } from './follow.ts';
import { queryChains } from './query-chains.ts';
import { rereadIfMissing } from './reread.ts';
import { selectStandingStarts } from './store.ts';

const windowMs = 10_000;
/** How many transactions are looked up on a chain in ten seconds: half of a partner's for one merchant. */
const lookUps = new ChainLimit({ ofOne: 100, ofAll: 300 }, windowMs);

/**
 * Looks up a transaction that a customer says has paid a request. Being submitted, it proves nothing: anyone can read a
 * hash off the chain and post it. A transaction that is not mined yet, or failed, is kept for the page: see
 * `readSubmitted`.
 *
 * @param submitted `chainId` if it is known; otherwise all chains of the request's mode are queried
 * @throws Refusal not_found for an unknown request
 */
export async function submitHash(
  ctx: Context,
  requestId: string,
  submitted: { chainId?: number; txHash: string },
): Promise<Outcome> {
  const scope = await scopeOfRequest(ctx.db, requestId);
  if (!scope) throw refuse('not_found');
  const txHash = submitted.txHash.trim().toLowerCase();
  if (!isHash32(txHash)) return { kind: 'malformed' };
  const all = ctx.chains[modeOf(scope.testMode)];
  const chains = all.filter(({ chainId }) => submitted.chainId === undefined || chainId === submitted.chainId);
  const chainIds = chains.map(({ chainId }) => chainId);

  const row = await readRequest(ctx.db, scope, requestId);
  const [counted, found, refunds] = await ctx.db.scoped(scope, async (tx) => {
    const parts = await selectCounted(tx, scope, row.id);
    const same = await selectByHash(tx, scope, { txHash, chainIds }, { wallet: row.wallet_address });
    const refunds = await selectWithRefund(tx, scope, same.map(keyOf));
    return [parts, same, refunds] as const;
  });
  const request = toPayable(row, counted);
  const hasRefund = (one: TransferRow) =>
    one.reason === 'released' || refunds.some((back) => isSameTransfer(keyOf(one), back));
  const judged = found.length > 0 ? judgeFound(request, found, chains, hasRefund) : null;
  // Its payments to others say nothing about this wallet: an endpoint may have left out the log.
  if (judged && found.some((one) => one.request_id === row.id || one.to_address === row.wallet_address)) return judged;
  const startBlocks = await selectStandingStarts(ctx.db, row.start_blocks);
  const asked = chains.filter(({ chainId }) => lookUps.take(chainId, scope, row.account_id, ctx.clock.now()));
  const { kind, unsettled, mined } = await queryChains(asked, { txHash, request, startBlocks });
  if (unsettled) await storeSubmitted(ctx, scope, row, unsettled);
  if (mined) await rereadIfMissing(ctx, row, mined.chain, mined.receipt);
  if (judged && !mined) return judged;
  return { kind: kind === 'not_found' && asked.length < chains.length ? 'unavailable' : kind };
}

/** The outcome of one transaction's transfers for this request. */
function judgeFound(
  request: Payable,
  found: TransferRow[],
  chains: ChainConfig[],
  hasRefund: (row: TransferRow) => boolean,
): Outcome {
  const own = found.filter((row) => row.request_id === request.id);
  if (own.length > 0 && request.proofStatus !== 'none') return { kind: 'counted', proofStatus: request.proofStatus };
  if (own.length === 0 && found.some((row) => row.judged_at === null)) return { kind: 'seen' };
  // Whoever sent a part may have sent another one; those of others are not asked about then.
  const mayBePart = (row: TransferRow) => own.length === 0 || own.some((one) => one.from_address === row.from_address);
  const free = found.filter((row) => row.request_id === null && row.judged_at !== null && mayBePart(row));
  const outcomes = free.map(
    (row): Outcome => (hasRefund(row) ? { kind: 'given_back' } : judgeFree(request, row, chains)),
  );
  const toBeSigned = mostLikely(request, outcomes);
  if (toBeSigned) return toBeSigned;
  if (own.length > 0) return { kind: 'underpaid', missingMicro: request.usdcMicro - request.countedMicro };
  return outcomes[0] ?? { kind: 'already_used' };
}

type ToBeSigned = Extract<Outcome, { kind: 'needs_signature' }>;

/**
 * The transfer that its sender is asked to sign for, where one transaction made several: the smallest that pays what is
 * missing, otherwise the largest. The others may be somebody else's, or dust.
 */
function mostLikely({ usdcMicro, countedMicro }: Payable, outcomes: readonly Outcome[]): ToBeSigned | null {
  const compare = (a: ToBeSigned, b: ToBeSigned) => Number(a.usdcMicro - b.usdcMicro);
  const signable = outcomes.filter((one): one is ToBeSigned => one.kind === 'needs_signature').sort(compare);
  const missingMicro = usdcMicro - countedMicro;
  return signable.find((one) => one.usdcMicro >= missingMicro) ?? signable.at(-1) ?? null;
}

function judgeFree(request: Payable, row: TransferRow, chains: ChainConfig[]): Outcome {
  const chain = findChain(chains, row.chain_id);
  if (!chain?.tokens.some(({ address }) => address === row.token_address)) return { kind: 'wrong_token' };
  if (isMint(toTransfer(row))) return { kind: 'minted', usdcMicro: BigInt(row.value) };
  const applicability = canApply(toTransfer(row), request, 'claim');
  if (!applicability.counts) return rejectedOutcome(applicability.reason);
  return { kind: 'needs_signature', ...keyOf(row), from: row.from_address, usdcMicro: BigInt(row.value) };
}
