import type { Scope, Tx } from '../../db/connection.ts';
import type { Reason } from '../rules.ts';
import { keyOf, type TransferKey } from '../transfers.ts';
import { countOtherRequests, selectUnmatchedMeanwhile } from './near-store.ts';

/** An unmatched payment that may be meant for a request, judged by time and amount alone: a hint, never a proof. */
export type NearPayment = TransferKey & {
  usdcMicro: bigint;
  /** What the request asks for: the rest after a partial payment. */
  askedMicro: bigint;
  blockTime: Date;
  reason: Reason;
  /** How many other requests it may be meant for as well, at most `mostOthers`. Customers are told only of 0. */
  others: number;
};

const mostNear = 5;
const mostOthers = 9;

const feeMicro = 5_000_000n;
const feePercent = 5n;

/**
 * The rule: the amounts that a request may have asked for when this much arrived. An exchange takes its fee from the
 * amount, or rounds it: so up to 5 USDC or 5 % away, whichever is more, and neither more than twice the other.
 */
export function amountsNear(valueMicro: bigint): { fromMicro: bigint; toMicro: bigint } {
  const share = (valueMicro * feePercent) / 100n;
  const away = share > feeMicro ? share : feeMicro;
  const [low, half] = [valueMicro - away, (valueMicro + 1n) / 2n];
  const [high, double] = [valueMicro + away, valueMicro * 2n];
  return { fromMicro: low > half ? low : half, toMicro: high < double ? high : double };
}

/**
 * Unmatched payments near to an unpaid request, newest first, at most five: to its wallet and merchant, mined from
 * its creation until 30 minutes after its expiry, of nearly the amount that is due now, naming no request, not
 * refunded. One statement, and another for each payment found. `readProgress` returns them as `near`.
 *
 * Whom to show them: the merchant and the partner, all, saying how many other requests each may be meant for
 * (`others`). A customer's page, only one with `others` 0, or one whose hash was posted there; never its payer or its
 * hash. Nothing may be applied because it is near: its sender signs, or the merchant decides.
 *
 * @param requestId in the scope; an unknown, paid or half-settled (`attached`) one has none
 */
export async function nearPayments(tx: Tx, scope: Scope, requestId: string): Promise<NearPayment[]> {
  const meanwhile = await selectUnmatchedMeanwhile(tx, scope, requestId);
  const near = meanwhile.filter(({ value, asked_micro }) => {
    const { fromMicro, toMicro } = amountsNear(BigInt(value));
    return fromMicro <= BigInt(asked_micro) && BigInt(asked_micro) <= toMicro;
  });
  return Promise.all(
    near.slice(0, mostNear).map(async (row) => ({
      ...keyOf(row),
      usdcMicro: BigInt(row.value),
      askedMicro: BigInt(row.asked_micro),
      blockTime: row.block_time,
      reason: row.reason ?? 'no_match',
      others: await countOtherRequests(tx, scope, row, requestId, amountsNear(BigInt(row.value)), mostOthers),
    })),
  );
}
