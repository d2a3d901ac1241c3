import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { mapFew } from '../../lib/map-few.ts';
import type { AccountState } from './account-store.ts';
import { dispatchRows, rebroadcast, sendVariants } from './dispatch.ts';
import { firstOffer, raisedOffer } from './fees.ts';
import type { KeptVariant, RelayRow } from './store.ts';

/** So long whoever took on a call has to dispatch it, before the loop does. */
const patienceMs = 2_000;
/** What no endpoint has taken is handed on again so often. */
const againMs = 5_000;
/** Late calls that are sent at once. */
const few = 4;
/** A transaction is late once so many blocks were made without it: a chain that stands still is not paid more. */
const blocksWithout = 2;
/** What its signer or every endpoint refuses for so long gives way, because later calls wait behind it. */
const refusedMs = 60_000;

/**
 * Sends what is not sent, and sends again under the same nonce, with higher fees, what is not mined in time. Only the
 * first call can be late by itself; those behind it get higher fees when theirs no longer suffice.
 *
 * @param open the calls of one account that are not mined, by nonce
 * @returns whether any is late
 */
export async function sendOpen(
  ctx: Context,
  chain: ChainConfig,
  open: readonly RelayRow[],
  variants: Map<string, KeptVariant[]>,
  account: AccountState,
): Promise<boolean> {
  const isOld = (ms: number | null, limitMs: number) => ms === null || ms >= limitMs;
  const first = open[0];
  const unsent = open.filter((row) =>
    row.state === 'allotted'
      ? row.allotted_ms >= patienceMs && (isOld(row.tried_ms, againMs) || (row === first && isRefused(row)))
      : !row.reached && isOld(row.tried_ms, row.tried_ms === null ? patienceMs : againMs),
  );
  // A signer that is back has now signed what it refused, which is then not replaced.
  await dispatchRows(ctx, chain, unsent, account);
  const late = lateOnes(chain, open, account);
  if (first && isRefused(first)) await cancel(ctx, chain, first, variants.get(first.id) ?? [], account);
  else await mapFew(late, few, (row) => resend(ctx, chain, row, variants.get(row.id) ?? [], account, row === first));
  return late.length > 0;
}

const isRefused = ({ refused_ms }: RelayRow) => (refused_ms ?? 0) >= refusedMs;

/** Calls that are late, the first one among them; and those that were offered too little to be taken at all. */
function lateOnes(chain: ChainConfig, open: readonly RelayRow[], account: AccountState): RelayRow[] {
  const isOverdue = (row: RelayRow) => row.state === 'sent' && (row.sent_ms ?? 0) >= limitsOf(chain).resendMs;
  const [first] = open;
  const isFirstLate =
    first !== undefined && isOverdue(first) && account.head >= Number(first.sent_head) + blocksWithout;
  return open.filter((row) => (isFirstLate && isOverdue(row)) || (row.state === 'sent' && isUnderpriced(row)));
}

const isUnderpriced = ({ reached, trouble }: RelayRow) => !reached && trouble?.startsWith('underpriced') === true;

/**
 * Raises the fees where they are too low or the call is first in line. Otherwise, or where that is not signed, hands on
 * the same bytes to all.
 */
async function resend(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  variants: readonly KeptVariant[],
  account: AccountState,
  isFirst: boolean,
): Promise<void> {
  const [best] = variants;
  if (!best) return;
  const isLow = best.maxFeeWei < account.baseFeeWei + account.priorityFeeWei;
  const offer = isFirst || isLow || isUnderpriced(row) ? raisedOffer(best, account, limitsOf(chain)) : null;
  const next = offer ? [{ row, offer, cancels: best.cancels }] : [];
  if ((await sendVariants(ctx, chain, next, account.head)) > 0) return;
  // Nothing new was signed: an endpoint that has lost the call gets the same bytes once more.
  if ((row.tried_ms ?? Infinity) >= limitsOf(chain).resendMs) await rebroadcast(ctx, chain, [row], true);
}

/**
 * Puts a transfer of nothing in the place of a call that its signer or all endpoints refuse as it is. Should an
 * endpoint have kept it after all, either may be mined: the chain decides which.
 */
async function cancel(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  variants: readonly KeptVariant[],
  account: AccountState,
): Promise<void> {
  const [best] = variants;
  const limits = limitsOf(chain);
  const offer = best ? raisedOffer(best, account, limits) : firstOffer(account, limits);
  ctx.log.warn(
    { relay_id: row.id },
    'a relayed call is refused by its signer or by every endpoint; its nonce is used up',
  );
  if (offer) await sendVariants(ctx, chain, [{ row, offer, cancels: true }], account.head);
}
