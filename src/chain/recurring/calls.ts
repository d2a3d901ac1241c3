import { decodeErrorResult, encodeFunctionData, parseAbi } from 'viem';
import type { Hex } from '../rpc.ts';
import { recurringAbi } from './contract.ts';
import { type Mandate, toStruct } from './mandate.ts';

/** A charge of a mandate. The signature is the payer's over the mandate. */
export type Charge = {
  mandate: Mandate;
  signature: Hex;
  /** In the token's smallest unit. */
  amount: bigint;
  /** 32 bytes, used once per mandate: see `referenceWord`. */
  reference: Hex;
};

/**
 * An EIP-2612 permit for the contract: it sets the payer's allowance to `value`. A signature that is not 65 bytes long,
 * as contract wallets make, uses the token's permit that takes bytes.
 */
export type Permit = { value: bigint; deadline: bigint; signature: Hex };

/** A request's 16-byte reference in the form that the contract expects: followed by 16 zero bytes. */
export function referenceWord(reference: Uint8Array): Hex {
  if (reference.length !== 16) throw new Error('A reference has 16 bytes.');
  return `0x${Buffer.from(reference).toString('hex').padEnd(64, '0')}`;
}

/** The calldata of a charge. A permit is used first, and may already have been used by somebody else. */
export function chargeCall({ mandate, signature, amount, reference }: Charge, permit: Permit | null): Hex {
  const args = [toStruct(mandate), signature, amount, reference] as const;
  return permit === null
    ? encodeFunctionData({ abi: recurringAbi, functionName: 'charge', args })
    : encodeFunctionData({ abi: recurringAbi, functionName: 'chargeWithPermit', args: [...args, permit] });
}

/** The calldata with which payer, payee or executor ends a mandate. */
export function revokeCall(mandate: Mandate): Hex {
  return encodeFunctionData({ abi: recurringAbi, functionName: 'revoke', args: [toStruct(mandate)] });
}

/** The calldata with which anybody ends a mandate, given the payer's signature (`revocationTypedData`). */
export function revokeBySignatureCall(mandate: Mandate, signature: Hex): Hex {
  const args = [toStruct(mandate), signature] as const;
  return encodeFunctionData({ abi: recurringAbi, functionName: 'revokeBySignature', args });
}

/**
 * Why a call of the contract was reverted. The first group are the contract's own reasons. `balance`, `allowance`,
 * `paused` and `blacklisted` come from the token, as tokens in use word them. `unknown` is anything else.
 */
export type Revert =
  | { kind: 'too_soon'; allowedAt: number }
  | { kind: 'not_started' | 'ended' | 'amount' | 'reference_used' | 'revoked' | 'signature' | 'executor' | 'party' }
  | { kind: 'balance' | 'allowance' | 'paused' | 'blacklisted' }
  | { kind: 'unknown' };

/** The errors of tokens: text from Circle's, and error types (ERC-6093) from OpenZeppelin's current ones. */
const tokenAbi = parseAbi([
  'error Error(string reason)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  'error EnforcedPause()',
]);

const abi = [...recurringAbi, ...tokenAbi];

/** Reads the data of a revert, as a simulation or a receipt's trace reports it. */
export function readRevert(data: Hex): Revert {
  const error = decode(data);
  switch (error?.errorName) {
    case 'TooSoon':
      return { kind: 'too_soon', allowedAt: Number(error.args[0]) };
    case 'NotStarted':
      return { kind: 'not_started' };
    case 'Ended':
      return { kind: 'ended' };
    case 'AmountOutOfRange':
      return { kind: 'amount' };
    case 'ReferenceUsed':
      return { kind: 'reference_used' };
    case 'MandateRevoked':
      return { kind: 'revoked' };
    case 'InvalidSignature':
      return { kind: 'signature' };
    case 'NotExecutor':
      return { kind: 'executor' };
    case 'NotParty':
      return { kind: 'party' };
    case 'ERC20InsufficientBalance':
      return { kind: 'balance' };
    case 'ERC20InsufficientAllowance':
      return { kind: 'allowance' };
    case 'EnforcedPause':
      return { kind: 'paused' };
    case 'Error':
      return { kind: kindOfText(error.args[0]) };
    default:
      return { kind: 'unknown' };
  }
}

function kindOfText(reason: string): 'balance' | 'allowance' | 'paused' | 'blacklisted' | 'unknown' {
  if (/exceeds allowance/i.test(reason)) return 'allowance';
  if (/exceeds balance/i.test(reason)) return 'balance';
  if (/paused/i.test(reason)) return 'paused';
  return /blacklist|blocklist/i.test(reason) ? 'blacklisted' : 'unknown';
}

function decode(data: Hex) {
  try {
    return decodeErrorResult({ abi, data });
  } catch {
    return null; // no error that is listed here, or a token's that is malformed
  }
}
