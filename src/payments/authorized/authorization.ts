import { decodeFunctionData, encodeFunctionData, parseAbi } from 'viem';
import type { Hex } from '../../chain/rpc.ts';
import type { TokenDomain } from '../../chain/token-domain.ts';

/** What an EIP-3009 authorization says. Addresses in lower case, times in Unix seconds. */
export type Authorization = {
  /** Who pays, and signs. */
  from: Hex;
  to: Hex;
  /** In the token's smallest unit. */
  valueMicro: bigint;
  validAfter: bigint;
  /** The first second in which it is no longer valid. */
  validBefore: bigint;
  /** 32 bytes. */
  nonce: Hex;
};

/** An authorization with the signature of the payer's key or contract wallet, in lower case. */
export type SignedAuthorization = Authorization & { signature: Hex };

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);

const keySignatureLength = 2 + 2 * 65;

/** The EIP-712 data of an authorization, under the token's own domain. */
export function authorizationTypedData(
  token: { chainId: number; address: Hex; domain: TokenDomain },
  { from, to, valueMicro: value, validAfter, validBefore, nonce }: Authorization,
) {
  const domain = { ...token.domain, chainId: token.chainId, verifyingContract: token.address };
  const message = { from, to, value, validAfter, validBefore, nonce };
  return { domain, types, primaryType: 'TransferWithAuthorization' as const, message };
}

/**
 * The calldata with which anybody can execute an authorization. A signature with the length of a key's uses the form of
 * the call that every such token has. A longer one, from a contract wallet, uses the form that takes bytes.
 */
export function authorizationCall(signed: SignedAuthorization): Hex {
  const { from, to, valueMicro, validAfter, validBefore, nonce, signature } = signed;
  const terms = [from, to, valueMicro, validAfter, validBefore, nonce] as const;
  if (signature.length !== keySignatureLength) {
    return encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...terms, signature] });
  }
  const [r, s] = [signature.slice(2, 66), signature.slice(66, 130)].map((word) => `0x${word}` as const) as [Hex, Hex];
  const last = Number.parseInt(signature.slice(130), 16);
  // Some wallets count from 0 where tokens count from 27.
  const v = last < 2 ? last + 27 : last;
  return encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args: [...terms, v, r, s] });
}

/** What a call that `authorizationCall` made moves, in micro units. */
export const authorizedMicro = (call: Hex): bigint => decodeFunctionData({ abi, data: call }).args[2];
