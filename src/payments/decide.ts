import type { RequestRow } from '../requests/store.ts';
import { type ChainView, needsCrossCheck, standsFinal } from './proof/heads.ts';
import { restToReserve, undoubtedMicroOf } from './reserve-rest.ts';
import {
  type Applicability,
  canApply,
  completingTransfer,
  type Payable,
  type Reason,
  type Rule,
  sumMicro,
} from './rules.ts';
import { toTransfer } from './store.ts';
import { isSameRow, type TransferRow } from './transfers.ts';

/** A locked request, and the transfers that count for it, locked as well, in the order of the chain. */
export type LockedRequest = { request: RequestRow; counted: TransferRow[] };

/** A locked transfer that is meant for a request. */
export type IntendedTransfer = {
  row: TransferRow;
  rule: Rule;
  /** Whether all endpoints have confirmed it. */
  confirmed: boolean;
  isRefunded: boolean;
};

export type Decision =
  | Applicable
  | { kind: 'rejected'; reason: Reason }
  /** The merchant who decides does not own the money any more. */
  | { kind: 'gone' };

/** The transfer counts for the request. */
export type Applicable = {
  kind: 'applied';
  /** The request with its new `proof_status`, and what counts for it then. */
  after: LockedRequest;
  /** The final transfers that verify the request; empty if it is only attached, or not paid in full. */
  settled: TransferRow[];
  /** What is left to pay, or zero. */
  missingMicro: bigint;
  /** What is left of a request without proof, for which an amount must be reserved; null if nothing must. */
  restMicro: bigint | null;
};

/** A request as the rules read it. */
export function toPayable(row: RequestRow, counted: readonly TransferRow[]): Payable {
  return {
    id: row.id,
    walletAddress: row.wallet_address,
    walletChainIds: row.wallet_chain_ids,
    usdcMicro: BigInt(row.usdc_micro),
    status: row.status,
    proofStatus: row.proof_status,
    expiresAt: row.expires_at,
    countedMicro: sumMicro(counted),
    countedTransfers: counted.length,
    undoubtedMicro: undoubtedMicroOf(counted),
  };
}

/**
 * Decides what a transfer does to the request that it is meant for. A request that is paid in full is verified if
 * enough of its transfers are final, and otherwise attached until they are. Nothing is written yet.
 */
export function decide(held: LockedRequest, meant: IntendedTransfer, view: ChainView): Decision {
  const applicability = judge(held, meant);
  if (!applicability) return { kind: 'gone' };
  if (!applicability.counts) return { kind: 'rejected', reason: applicability.reason };
  const { request } = held;
  const counted = inOrder([...held.counted, { ...meant.row, counts: true, final_at: null, looks: 0 }]);
  const dueMicro = BigInt(request.usdc_micro);
  if (!applicability.completes) {
    const missingMicro = dueMicro - sumMicro(counted);
    const restMicro = restToReserve(request, counted);
    return { kind: 'applied', after: { request, counted }, settled: [], missingMicro, restMicro };
  }
  const proven = provenBy(request, counted, view, meant);
  const isPaid = completingTransfer(proven, dueMicro) !== null;
  const after = { request: { ...request, proof_status: isPaid ? 'verified' : 'attached' } as const, counted };
  return { kind: 'applied', after, settled: isPaid ? proven : [], missingMicro: 0n, restMicro: null };
}

/** Whether a transfer counts for its request; null if a merchant decides about money that is no longer theirs. */
function judge({ request, counted }: LockedRequest, { row, rule, isRefunded }: IntendedTransfer): Applicability | null {
  // Refunded money pays nothing, whether its sender, a reorganisation or a merchant offers it again.
  const isReleased = row.reason === 'released' && rule !== 'merchant';
  if (isRefunded || isReleased) return { counts: false, reason: 'released' };
  // The wallet may belong to another merchant by now: merchants decide only about their own money and requests.
  if (rule === 'merchant' && request.account_id !== row.account_id) return null;
  return canApply(toTransfer(row), toPayable(request, counted), rule);
}

/**
 * The transfers that prove a request at once: they are final and, if there are several endpoints, all have confirmed
 * them. Of those not marked as final, at most the given one was checked with the endpoints.
 */
function provenBy(
  request: RequestRow,
  counted: readonly TransferRow[],
  view: ChainView,
  checked: IntendedTransfer,
): TransferRow[] {
  const due = BigInt(request.usdc_micro);
  return counted.filter((other) => {
    if (other.final_at) return true;
    const chain = view.get(Number(other.chain_id))?.chain;
    const agreed = chain && (!needsCrossCheck(chain) || (checked.confirmed && isSameRow(other, checked.row)));
    return agreed === true && standsFinal(other, due, view);
  });
}

/** As `selectCounted` orders them. */
export function inOrder(rows: TransferRow[]): TransferRow[] {
  return rows.sort(
    (a, b) =>
      a.block_time.getTime() - b.block_time.getTime() ||
      Number(a.chain_id) - Number(b.chain_id) ||
      Number(a.block_number) - Number(b.block_number) ||
      (a.tx_hash < b.tx_hash ? -1 : a.tx_hash > b.tx_hash ? 1 : a.ordinal - b.ordinal),
  );
}
