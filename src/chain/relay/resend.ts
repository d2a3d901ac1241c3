import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { minuteMs } from '../../lib/durations.ts';
import type { AccountState } from './account-store.ts';
import { dispatchRows, rebroadcast, sendVariants } from './dispatch.ts';
import { firstOffer, raisedOffer } from './fees.ts';
import type { RelayRow, StoredVariant } from './store.ts';

/** How long whoever enqueued a call has to dispatch it before the loop does. */
const dispatchGraceMs = 2_000;
/** How often a call that no endpoint has taken is sent again. */
const retryMs = 5_000;
/** How many late calls are sent at once. */
const resendsAtOnce = 4;
/**
 * A transaction is late once this many blocks were made without it. So no higher fee is offered to a chain that stands
 * still.
 */
const lateAfterBlocks = 2;
/** A call that its signer or every endpoint refuses for this long is replaced, because later calls wait behind it. */
const refusedMs = minuteMs;

/**
 * Which of these calls are not wanted any more, by their ids. A transfer of zero value takes the place of one that is
 * not mined yet: the nonce must be used up.
 */
export type FindOvertaken = (ctx: Context, relayIds: readonly string[]) => Promise<ReadonlySet<string>>;

export type Pending = {
  open: readonly RelayRow[];
  /** What was signed for them, the highest offers first. */
  variants: Map<string, StoredVariant[]>;
  account: AccountState;
  findOvertaken: FindOvertaken;
};

/**
 * Sends what is not sent, and sends again under the same nonce, with higher fees, what is not mined in time. Only the
 * first call can be late; those behind it get higher fees when theirs no longer suffice.
 *
 * @param open the calls of one account that are not mined, by nonce
 * @returns whether any is late
 */
export async function sendPending(
  ctx: Context,
  chain: ChainConfig,
  { open, variants, account, findOvertaken }: Pending,
): Promise<boolean> {
  const isOld = (ms: number | null, limitMs: number) => ms === null || ms >= limitMs;
  const first = open[0];
  const unsent = open.filter((row) =>
    row.state === 'allotted'
      ? row.allotted_ms >= dispatchGraceMs && (isOld(row.tried_ms, retryMs) || (row === first && isRefused(row)))
      : !row.reached && isOld(row.tried_ms, row.tried_ms === null ? dispatchGraceMs : retryMs),
  );
  const late = lateCalls(chain, open, account);
  const unmined = (row: RelayRow): Unmined => ({ row, variants: variants.get(row.id) ?? [], account });
  const overdue = first && isOverdueOn(chain, first) ? [first] : [];
  const asked = [...new Set([...unsent, ...late, ...overdue])].filter((row) => !isCancelled(unmined(row)));
  const overtaken = await findOvertaken(
    ctx,
    asked.map(({ id }) => id),
  );
  const isReplaced = (row: RelayRow) => row.state === 'sent' && overtaken.has(row.id);
  for (const row of asked.filter(isReplaced)) await cancel(ctx, chain, unmined(row), 'is not wanted any more');
  // If a signer has now signed a call that it refused, that call is not replaced.
  await dispatchRows(
    ctx,
    chain,
    unsent.filter((row) => !isReplaced(row)),
    account,
    overtaken,
  );
  const again = late.filter((row) => !isReplaced(row));
  if (first && isRefused(first)) await cancel(ctx, chain, unmined(first), 'is refused by its signer or every endpoint');
  else if (again.length > 0)
    await mapLimited(again, resendsAtOnce, (row) => resend(ctx, chain, unmined(row), row === first));
  // A reorganisation can have removed it before its block was seen, and a chain may make its next block only for it.
  else if (first?.reached && isOverdueOn(chain, first) && !isReplaced(first)) await rebroadcastIfDue(ctx, chain, first);
  return late.length > 0;
}

const isRefused = ({ refused_ms }: RelayRow) => (refused_ms ?? 0) >= refusedMs;

/** Whether a call should have been mined by now, if the chain makes blocks. */
const isOverdueOn = (chain: ChainConfig, { state, sent_ms }: RelayRow) =>
  state === 'sent' && (sent_ms ?? 0) >= limitsOf(chain).resendMs;

/** Late calls, including the first one, and those that offer too little to be taken at all. */
function lateCalls(chain: ChainConfig, open: readonly RelayRow[], account: AccountState): RelayRow[] {
  const [first] = open;
  const isOverdue = (row: RelayRow) => isOverdueOn(chain, row);
  const isFirstLate =
    first !== undefined && isOverdue(first) && account.head >= Number(first.sent_head) + lateAfterBlocks;
  return open.filter((row) => (isFirstLate && isOverdue(row)) || (row.state === 'sent' && isUnderpriced(row)));
}

const isUnderpriced = ({ reached, trouble }: RelayRow) => !reached && trouble?.startsWith('underpriced') === true;

/** A call that is not mined, its account, and what was signed for it, the highest offer first. */
type Unmined = { row: RelayRow; variants: readonly StoredVariant[]; account: AccountState };

/** Whether a transfer of zero value was already signed in place of a call. */
const isCancelled = ({ variants }: Pick<Unmined, 'variants'>) => variants.some(({ cancels }) => cancels);

/**
 * Raises the fees if they are too low or the call is the first in the queue. Otherwise, or if that is not signed, sends
 * the same bytes to all endpoints.
 */
async function resend(
  ctx: Context,
  chain: ChainConfig,
  { row, variants, account }: Unmined,
  isFirst: boolean,
): Promise<void> {
  const [best] = variants;
  if (!best) return;
  const isLow = best.maxFeeWei < account.baseFeeWei + account.priorityFeeWei;
  const offer = isFirst || isLow || isUnderpriced(row) ? raisedOffer(best, account, limitsOf(chain)) : null;
  const next = offer ? [{ row, offer, cancels: isCancelled({ variants }) }] : [];
  if ((await sendVariants(ctx, chain, next, account.head)) > 0) return;
  // Nothing new was signed: an endpoint that has lost the call gets the same bytes once more.
  await rebroadcastIfDue(ctx, chain, row);
}

/** Sends the same bytes to all endpoints, unless that was done lately. */
async function rebroadcastIfDue(ctx: Context, chain: ChainConfig, row: RelayRow): Promise<void> {
  if ((row.tried_ms ?? Infinity) >= limitsOf(chain).resendMs) await rebroadcast(ctx, chain, [row], true);
}

/**
 * Replaces a call with a transfer of zero value. If an endpoint has kept the call after all, the chain decides which of
 * the two is mined. Where the limit leaves no room for a higher offer, endpoints that lack the call get the same one.
 *
 * @param why for the log, of the call
 */
async function cancel(
  ctx: Context,
  chain: ChainConfig,
  { row, variants, account }: Unmined,
  why: string,
): Promise<void> {
  const [best] = variants;
  const limits = limitsOf(chain);
  const offer = best ? (raisedOffer(best, account, limits) ?? offerOf(best)) : firstOffer(account, limits);
  ctx.log.warn({ relay_id: row.id }, `a relayed call ${why}; its nonce is used up`);
  await sendVariants(ctx, chain, [{ row, offer, cancels: true }], account.head);
}

const offerOf = ({ maxFeeWei, priorityFeeWei }: StoredVariant) => ({ maxFeeWei, priorityFeeWei });
