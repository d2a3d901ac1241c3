import { minuteMs, producerSkewMs } from '../lib/durations.ts';
import { isZeroAddress } from '../lib/ids.ts';

/** The ways in which a transfer finds its request, strongest first; `merchant` is the merchant's own decision. */
export type Rule = 'authorization' | 'charge' | 'reference' | 'amount' | 'claim' | 'merchant';

/** Why a transfer is applied to no request. Stored and shown: a value never changes its meaning. */
export type Reason =
  /** Nothing names a request: no reference, no reserved amount. */
  | 'no_match'
  /** A whole-cent amount while other amounts close to it are reserved: it may be somebody's rounded figure. */
  | 'ambiguous'
  /** It names a request to another wallet. */
  | 'conflict'
  /** The amount is that of a request, but by its block's number or time it was mined before the request was made. */
  | 'before_request'
  /** Mined more than 30 minutes after the request expired. */
  | 'late'
  /** The request was cancelled. */
  | 'voided'
  /** The request was paid by another transfer. */
  | 'already_paid'
  /** A partial payment after many others: dust must not flood a request. */
  | 'too_many_parts'
  /** The token is not accepted. */
  | 'wrong_token'
  /** On a chain where the contract wallet's code was not checked: somebody else's code may be at that address. */
  | 'wrong_network'
  /** Sent by the wallet to itself. */
  | 'self_transfer'
  /** Sent to another wallet than the request's. */
  | 'wrong_recipient'
  /**
   * A partial payment of a request that ended unpaid. The merchant detached it for a refund, or it was refunded before.
   */
  | 'released';

export type Transfer = {
  chainId: number;
  tokenAddress: string;
  from: string;
  to: string;
  /** Micro units. */
  value: bigint;
  blockNumber: number;
  /** Whole seconds, as blocks have. */
  blockTime: Date;
  /** 16 bytes of calldata in lower-case hex, if they can only mean this transfer. */
  reference: string | null;
  /** The nonce of the EIP-3009 authorization that it executed: 32 bytes in lower-case hex. */
  authorizationNonce: string | null;
  /** The 16 bytes that the contract for recurring payments named when it moved the money, in lower-case hex. */
  chargedReference: string | null;
};

/** What is known of a request when a transfer is matched against it. */
export type Payable = {
  id: string;
  walletAddress: string;
  /** Where the wallet can be paid; null: on any chain. */
  walletChainIds: readonly number[] | null;
  /** The amount due. */
  usdcMicro: bigint;
  status: 'requested' | 'opened' | 'expired' | 'voided';
  proofStatus: 'none' | 'attached' | 'verified';
  expiresAt: Date;
  /** The sum of the transfers that are applied to it and count. */
  countedMicro: bigint;
  /** How many they are. */
  countedTransfers: number;
  /** The sum of those that are not doubted: they are settled, or may still be. */
  undoubtedMicro: bigint;
};

/** An amount that identifies a payment to one wallet. */
export type Reservation = {
  requestId: string;
  usdcMicro: bigint;
  reservedAt: Date;
  reservedUntil: Date;
  /** The newest block known when it was reserved; null where none was, or where that block is gone. */
  startBlock: number | null;
};

/** A request that a transfer names, and the wallet it is paid to. */
export type Named = { id: string; walletAddress: string };

/** What the stored data say about a transfer to a wallet. */
export type Candidates = {
  /** The request for which its authorization was made: its nonce names it, or it was submitted for it. */
  authorized: Named | null;
  /** The request that an automatic charge named. */
  charged: Named | null;
  /** The request that the reference in the calldata names. */
  referenced: Named | null;
  /**
   * An earlier signature or manual decision about this transfer, from before a reorganisation removed it; null for
   * none.
   */
  decided: { requestId: string; rule: 'claim' | 'merchant' } | null;
  /**
   * Amounts reserved for the wallet: the one equal to the value, and at least one of another request within
   * `neighbourhoodMicro` that was reserved when it was mined, if there is one. None if something names a request.
   */
  reservations: readonly Reservation[];
};

export type Choice = { requestId: string; rule: Rule } | { requestId: null; reason: Reason };

const wholeCentMicro = 10_000n;
/**
 * Anybody can send less. Below this the whole amount is still requested, so that no request depends on a stranger's
 * dust.
 */
export const minPartMicro = 10_000n;

/**
 * What is left to pay after partial payments that are large enough.
 *
 * @returns null if they are too small, or nothing is left
 */
export function restMicro(dueMicro: bigint, undoubtedMicro: bigint): bigint | null {
  return undoubtedMicro >= minPartMicro && undoubtedMicro < dueMicro ? dueMicro - undoubtedMicro : null;
}
/** Money that was mined this long after expiry still counts. */
export const graceMs = 30 * minuteMs;
/** At most this many partial payments count for a request; one that completes the sum is always taken. */
const maxTransfers = 50;
/** Dust counts only among the first this many transfers: anybody can send it, and real parts must still find room. */
const maxTransfersWithDust = 10;

/** Block times are whole seconds, so a moment is rounded down to its second before it is compared. */
function toSecond(moment: Date): number {
  return Math.floor(moment.getTime() / 1000) * 1000;
}

/** Whether a block with this time can have been made after a moment, although its producer's clock may be behind. */
export function canBeAfter(blockTime: Date, moment: Date): boolean {
  return blockTime.getTime() >= toSecond(moment) - producerSkewMs;
}

/**
 * The known head can be old, wrong or reorganised away, and a clock can be slow, so neither number nor time alone is
 * enough.
 */
function wasMinedAfter({ blockNumber, blockTime }: Transfer, { startBlock, reservedAt }: Reservation): boolean {
  if (startBlock !== null && blockNumber <= startBlock) return false;
  return canBeAfter(blockTime, reservedAt);
}

/**
 * Chooses the request that a transfer is meant for, by what the payer put into it, in order of strength. `canApply`
 * decides whether it counts for that request. An earlier decision outlives a reorganisation. What names a request that
 * cannot accept the transfer never falls back to a weaker rule.
 */
export function choose(transfer: Transfer, candidates: Candidates): Choice {
  const { authorized, charged, referenced, decided } = candidates;
  if (decided) return decided;
  const byName = (named: Named, rule: Rule): Choice =>
    named.walletAddress === transfer.to ? { requestId: named.id, rule } : { requestId: null, reason: 'conflict' };
  if (authorized) return byName(authorized, 'authorization');
  if (charged) return byName(charged, 'charge');
  if (referenced) return byName(referenced, 'reference');
  return chooseByAmount(transfer, candidates.reservations);
}

/** Whether something names the request, so that amounts decide nothing. */
export function isNamed(candidates: Omit<Candidates, 'reservations'>): boolean {
  const { authorized, charged, referenced, decided } = candidates;
  return (decided ?? authorized ?? charged ?? referenced) !== null;
}

function chooseByAmount(transfer: Transfer, reservations: readonly Reservation[]): Choice {
  const holder = reservations.find(
    ({ usdcMicro, reservedUntil }) => usdcMicro === transfer.value && transfer.blockTime <= reservedUntil,
  );
  if (!holder) return { requestId: null, reason: 'no_match' };
  if (!wasMinedAfter(transfer, holder)) return { requestId: null, reason: 'before_request' };
  const aroundMicro = neighbourhoodMicro(transfer.value);
  const hasNeighbour = reservations.some(
    (other) =>
      other.requestId !== holder.requestId &&
      distance(other.usdcMicro, transfer.value) <= aroundMicro &&
      toSecond(other.reservedAt) <= transfer.blockTime.getTime() &&
      transfer.blockTime <= other.reservedUntil,
  );
  if (hasNeighbour) return { requestId: null, reason: 'ambiguous' };
  return { requestId: holder.requestId, rule: 'amount' };
}

/**
 * How close another reserved amount makes an amount ambiguous: someone who types a rounded figure must not pay a
 * stranger's request. Amounts that are not a whole cent are not typed by chance.
 */
export function neighbourhoodMicro(value: bigint): bigint {
  return value % wholeCentMicro === 0n ? wholeCentMicro : 0n;
}

function distance(a: bigint, b: bigint): bigint {
  return a > b ? a - b : b - a;
}

/** Why a transfer is no payment at all, whomever it is for; null for a proper one. */
export function rejection(transfer: Transfer, tokens: readonly string[]): Reason | null {
  if (!tokens.includes(transfer.tokenAddress)) return 'wrong_token';
  if (transfer.from === transfer.to) return 'self_transfer';
  return null;
}

/** Whether a transfer was rejected so: no merchant can decide otherwise. */
export function isRejected(reason: Reason | null): boolean {
  return reason === 'wrong_token' || reason === 'self_transfer';
}

/** Whether a transfer minted the money, as a bridge does: it has no sender who could sign for it. */
export function isMint(transfer: Pick<Transfer, 'from'>): boolean {
  return isZeroAddress(transfer.from);
}

/** Whether a wallet can be paid on a chain: a contract only where its code was checked. */
export function canBePaid(chainId: number, walletChainIds: readonly number[] | null): boolean {
  return walletChainIds?.includes(chainId) ?? true;
}

export type Applicability = { counts: true; completes: boolean } | { counts: false; reason: Reason };

/**
 * Decides whether a transfer counts for the request that it is meant for, and whether that pays the request in full.
 * Only matching by amount considers when it was mined, in `choose`: every other rule proves by itself which request the
 * money is for.
 *
 * @param rule a merchant decides about late money
 */
export function canApply(transfer: Transfer, request: Payable, rule: Rule): Applicability {
  const no = (reason: Reason): Applicability => ({ counts: false, reason });
  if (transfer.to !== request.walletAddress) return no('wrong_recipient');
  if (rule === 'claim' && isMint(transfer)) return no('no_match');
  if (!canBePaid(transfer.chainId, request.walletChainIds)) return no('wrong_network');
  if (request.status === 'voided') return no('voided');
  // If it is attached by transfers that may never settle, money that suffices without them is taken.
  const suffices =
    request.undoubtedMicro < request.usdcMicro && request.undoubtedMicro + transfer.value >= request.usdcMicro;
  if (request.proofStatus === 'verified' || (request.proofStatus === 'attached' && !suffices))
    return no('already_paid');
  const late = transfer.blockTime.getTime() > request.expiresAt.getTime() + graceMs;
  if (late && rule !== 'merchant') return no('late');
  const completes = request.countedMicro + transfer.value >= request.usdcMicro;
  const limit = transfer.value < minPartMicro ? maxTransfersWithDust : maxTransfers;
  if (!completes && request.countedTransfers >= limit) return no('too_many_parts');
  return { counts: true, completes };
}

/**
 * The transfer that completed the sum, among those that count, in the order of the chain.
 *
 * @returns null when they do not reach the amount due
 */
export function completingTransfer<T extends { value: string }>(counted: readonly T[], usdcMicro: bigint): T | null {
  let sumMicro = 0n;
  for (const transfer of counted) {
    sumMicro += BigInt(transfer.value);
    if (sumMicro >= usdcMicro) return transfer;
  }
  return null;
}

/**
 * The surplus that each of these transfers brought, in micro units; without those that are not final. The first ones
 * pay the amount due, so a later sender cannot take over a surplus that belongs to an earlier one. What became final
 * after the request was verified comes last: no surplus changes once it can be refunded.
 *
 * @param counted those that count, in the order of the chain
 * @param verifiedAt when the request was verified; null if it is not
 */
export function surpluses<T extends { value: string; final_at: Date | null }>(
  counted: readonly T[],
  dueMicro: bigint,
  verifiedAt: Date | null,
): { transfer: T; micro: bigint }[] {
  let missingMicro = dueMicro;
  const rank = (at: Date | null) => (at && verifiedAt && at > verifiedAt ? at.getTime() : 0);
  const settled = counted.filter(({ final_at }) => final_at !== null);
  return settled
    .sort((a, b) => rank(a.final_at) - rank(b.final_at))
    .map((transfer) => {
      const micro = BigInt(transfer.value);
      const surplusMicro = micro > missingMicro ? micro - missingMicro : 0n;
      missingMicro -= micro - surplusMicro;
      return { transfer, micro: surplusMicro };
    });
}

/** The sum of these transfers, in micro units. */
export function sumMicro(counted: readonly { value: string }[]): bigint {
  return counted.reduce((sum, { value }) => sum + BigInt(value), 0n);
}
