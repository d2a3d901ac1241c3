import { decodeErrorResult, parseAbi } from 'viem';
import type { Hex } from '../../chain/rpc.ts';
import { minuteMs } from '../../lib/durations.ts';
import { isZeroAddress } from '../../lib/ids.ts';
import type { Authorization } from './authorization.ts';

/** The longest validity that is signed, so that after a failure the customer can soon pay in another way. */
const maxValidMs = 20 * minuteMs;
/** The shortest validity that is accepted; a shorter one could end before it is mined. */
const minMs = 10_000;
/** No signature is requested whose validity would end sooner. */
const minOfferMs = minuteMs;

/** Until when an authorization is to be valid: never longer than its request. Null: too little time is left. */
export function validUntil(expiresAt: Date, now: Date): Date | null {
  const until = Math.min(expiresAt.getTime(), now.getTime() + maxValidMs);
  return until - now.getTime() < minOfferMs ? null : new Date(Math.floor(until / 1000) * 1000);
}

/** Why an authorization cannot pay a request with these terms, whoever signed it; null if it can. */
export function faultOf(
  { from, to, validAfter, validBefore }: Authorization,
  { walletAddress, expiresAt, now }: { walletAddress: string; expiresAt: Date; now: Date },
): 'recipient' | 'times' | null {
  if (to !== walletAddress || from === to || isZeroAddress(from)) return 'recipient';
  const nowSeconds = now.getTime() / 1000;
  const begins = Number(validAfter) <= nowSeconds;
  const ends = Number(validBefore);
  const inTime = ends >= nowSeconds + minMs / 1000 && ends <= Math.ceil(expiresAt.getTime() / 1000);
  return begins && inTime ? null : 'times';
}

/** Why a token refuses to execute an authorization. `other`: paused, blocked, or nothing that is known. */
export type TokenRefusal = 'used' | 'signature' | 'balance' | 'times' | 'other';

const errors = parseAbi([
  'error Error(string reason)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
]);

/** Reads the reason with which a token reverted, as a simulation reports it. */
export function readTokenRefusal(data: Hex): TokenRefusal {
  const reason = reasonOf(data);
  if (/used or cancel/i.test(reason)) return 'used';
  if (/signature|ecrecover/i.test(reason)) return 'signature';
  if (/exceeds balance|InsufficientBalance/i.test(reason)) return 'balance';
  return /expired|not yet valid/i.test(reason) ? 'times' : 'other';
}

function reasonOf(data: Hex): string {
  try {
    const { errorName, args } = decodeErrorResult({ abi: errors, data });
    return errorName === 'Error' ? String(args[0]) : errorName;
  } catch {
    return ''; // nothing, or an error of the token's own
  }
}
