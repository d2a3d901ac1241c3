import type { Scope, Tx } from '../../db/connection.ts';
import type { Reason } from '../rules.ts';
import { keyOf, type TransferKey } from '../transfers.ts';
import { countOtherRequests, selectUnmatchedMeanwhile } from './near-matches-store.ts';

/** An unmatched payment that may be meant for a request, judged by time and amount alone: a hint, never a proof. */
export type NearMatch = TransferKey & {
  usdcMicro: bigint;
  /** What the request asks for: the rest after a partial payment. */
  askedMicro: bigint;
  blockTime: Date;
  reason: Reason;
  /**
   * How many other requests it may be meant for as well, at most `maxOthers`; null if the wallet has too many requests
   * to tell. Customers see only payments with 0.
   */
  others: number | null;
};

const maxNear = 5;
const maxOthers = 9;
/** Of more unmatched transfers to a merchant, which may be dust, not all are looked at. */
const maxArrived = 10_000;
/** Of more requests to a wallet, each view of a page would read all of a month. */
export const maxExamined = 10_000;

const feeMicro = 5_000_000n;
const feePercent = 5n;

/**
 * The rule: which amounts a request may have asked for when this much arrived. An exchange takes its fee from the
 * amount, or rounds it. So they differ by up to 5 USDC or 5 %, whichever is more, and neither is more than twice the
 * other.
 */
export function nearAmounts(valueMicro: bigint): { fromMicro: bigint; toMicro: bigint } {
  const share = (valueMicro * feePercent) / 100n;
  const away = share > feeMicro ? share : feeMicro;
  const [low, half] = [valueMicro - away, (valueMicro + 1n) / 2n];
  const [high, double] = [valueMicro + away, valueMicro * 2n];
  return { fromMicro: low > half ? low : half, toMicro: high < double ? high : double };
}

/**
 * Unmatched payments near to an unpaid request, newest first, at most five: to its wallet and merchant, mined from its
 * creation until 30 minutes after its expiry, of nearly the amount that is due now, naming no request, not refunded.
 * One statement, and another for those that it found. `readProgress` returns them as `near`.
 *
 * Who may see them: the merchant and the partner see all, with the number of other requests that each may be meant for
 * (`others`). A customer's page shows only one with `others` 0, or one whose hash was submitted there, and never its
 * payer or its hash. Being near applies nothing: the sender must sign, or the merchant decide.
 *
 * @param requestId a request in the scope; one that is unknown, paid or `attached` has none
 */
export async function findNearMatches(tx: Tx, scope: Scope, requestId: string): Promise<NearMatch[]> {
  const meanwhile = await selectUnmatchedMeanwhile(tx, scope, requestId, maxArrived);
  const near = meanwhile.filter(({ value, asked_micro }) => {
    const { fromMicro, toMicro } = nearAmounts(BigInt(value));
    return fromMicro <= BigInt(asked_micro) && BigInt(asked_micro) <= toMicro;
  });
  const shown = near.slice(0, maxNear);
  const [first] = shown;
  if (!first) return [];
  const others = await countOtherRequests(
    tx,
    scope,
    { walletAddress: first.to_address, requestId },
    shown.map(({ value, block_time }) => ({ blockTime: block_time, ...nearAmounts(BigInt(value)) })),
    { max: maxOthers, examined: maxExamined },
  );
  return shown.map((row, i) => ({
    ...keyOf(row),
    usdcMicro: BigInt(row.value),
    askedMicro: BigInt(row.asked_micro),
    blockTime: row.block_time,
    reason: row.reason ?? 'no_match',
    others: others?.[i] ?? null,
  }));
}
