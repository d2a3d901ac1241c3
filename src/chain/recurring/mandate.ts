import { hashTypedData } from 'viem';
import type { Hex } from '../rpc.ts';
import { recurringDomain } from './contract.ts';

/** What a payer agrees to. Addresses in lower case, times in unix seconds, amounts in the token's smallest unit. */
export type Mandate = {
  payer: Hex;
  payee: Hex;
  token: Hex;
  /** The only address that may charge. */
  executor: Hex;
  /** The most that one charge may take. */
  maxAmount: bigint;
  /** The least time between two charges. */
  minIntervalSeconds: number;
  /** The first second in which a charge is allowed. */
  startsAt: number;
  /** The first second in which no charge is allowed any more. */
  endsAt: number;
  /** 32 bytes that identify the plan. */
  plan: Hex;
  /** 32 bytes that make two mandates with the same terms different. */
  salt: Hex;
};

const mandateTypes = {
  Mandate: [
    { name: 'payer', type: 'address' },
    { name: 'payee', type: 'address' },
    { name: 'token', type: 'address' },
    { name: 'executor', type: 'address' },
    { name: 'maxAmount', type: 'uint256' },
    { name: 'minInterval', type: 'uint64' },
    { name: 'start', type: 'uint64' },
    { name: 'end', type: 'uint64' },
    { name: 'plan', type: 'bytes32' },
    { name: 'salt', type: 'bytes32' },
  ],
} as const;

const revocationTypes = { Revocation: [{ name: 'mandate', type: 'bytes32' }] } as const;

/** The mandate in the form that the contract expects. */
export function toStruct(mandate: Mandate) {
  const { minIntervalSeconds, startsAt, endsAt, ...same } = mandate;
  return { ...same, minInterval: BigInt(minIntervalSeconds), start: BigInt(startsAt), end: BigInt(endsAt) };
}

const domainOf = (chainId: number, contract: Hex) => ({
  ...recurringDomain,
  chainId,
  verifyingContract: contract,
});

/** The EIP-712 data that a payer signs to agree to a mandate. */
export function mandateTypedData(mandate: Mandate, chainId: number, contract: Hex) {
  const domain = domainOf(chainId, contract);
  return { domain, types: mandateTypes, primaryType: 'Mandate' as const, message: toStruct(mandate) };
}

/** The hash that is signed. It names the mandate in the contract, in its events and in a revocation. */
export function mandateHash(mandate: Mandate, chainId: number, contract: Hex): Hex {
  return hashTypedData(mandateTypedData(mandate, chainId, contract));
}

/** The EIP-712 data that a payer signs to end a mandate; anybody may submit the signature. */
export function revocationTypedData(mandate: Mandate, chainId: number, contract: Hex) {
  const message = { mandate: mandateHash(mandate, chainId, contract) };
  const domain = domainOf(chainId, contract);
  return { domain, types: revocationTypes, primaryType: 'Revocation' as const, message };
}
