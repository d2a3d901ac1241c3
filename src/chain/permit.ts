import { encodeFunctionData, erc20Abi, keccak256, parseAbi, parseSignature, stringToHex } from 'viem';
import type { ChainConfig } from '../config/chains.ts';
import { askAny } from './any-endpoint.ts';
import { type Hex, type Rpc, RpcError } from './rpc.ts';
import { ask, askDomain, type TokenDomain } from './token-domain.ts';
import { walletJson } from './typed-data.ts';

/** Whose tokens somebody may spend, and who. Addresses in lower case. */
export type Spending = { token: Hex; owner: Hex; spender: Hex };

/** An EIP-2612 permit: it sets what a spender may spend to `value`; it does not add to it. */
export type PermitTerms = Spending & {
  value: bigint;
  /** The owner's, which a permit uses up. */
  nonce: bigint;
  /** Unix seconds. */
  deadline: bigint;
};

/** What a token says of an allowance. */
export type TokenAllowance = {
  /** What may be spent now, in the token's smallest unit. */
  micro: bigint;
  /** What a permit is signed under; null for a token without EIP-2612, or of which no domain can be told. */
  permit: { domain: TokenDomain; nonce: bigint } | null;
};

const timeoutMs = 5_000;
const gasLimit: Hex = '0x7a120';
/** Nobody's: a permit may be brought by anybody. */
const caller: Hex = `0x${keccak256(stringToHex('quittance: tries a permit')).slice(-40)}`;

const abi = parseAbi([
  'function nonces(address owner) view returns (uint256)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
]);
const permitTypes = {
  Permit: [
    { name: 'owner', type: 'address' },
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'deadline', type: 'uint256' },
  ],
} as const;

/**
 * Reads an allowance, and what a permit for it would be signed under.
 *
 * @throws RpcError when no endpoint answers
 */
export function readTokenAllowance(chain: ChainConfig, spending: Spending): Promise<TokenAllowance> {
  return askAny(chain, timeoutMs, async (rpc) => {
    const { token, owner, spender } = spending;
    const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, spender] });
    const nonces = encodeFunctionData({ abi, functionName: 'nonces', args: [owner] });
    const [micro, nonce, domain] = await Promise.all([
      rpc.call(token, allowance),
      ask(rpc, token, nonces),
      askDomain(rpc, chain.chainId, token),
    ]);
    if (micro.length !== 66) throw new RpcError('malformed', `${rpc.host}: ${token} does not say an allowance`);
    const permit = domain && nonce?.length === 66 ? { domain, nonce: BigInt(nonce) } : null;
    return { micro: BigInt(micro), permit };
  });
}

/** A permit as wallets take it: the JSON text of `eth_signTypedData_v4`. */
export function permitJson(domain: TokenDomain, chainId: number, { token, ...message }: PermitTerms): string {
  const full = { ...domain, chainId, verifyingContract: token };
  return walletJson({ domain: full, types: permitTypes, primaryType: 'Permit', message });
}

/** What a chain says of a permit: whether the token would take it now. */
export type PermitWord = 'accepted' | 'refused' | 'unreachable';

/**
 * Tries a permit without leaving a trace, by the call that the contract of recurring payments makes with it. So it
 * also holds for wallets with code, whose signatures only the token can ask for.
 */
export async function tryPermit(chain: ChainConfig, terms: PermitTerms, signature: Hex): Promise<PermitWord> {
  const data = permitCall(terms, signature);
  if (data === null) return 'refused';
  try {
    return await askAny(chain, timeoutMs, (rpc) => tryCall(rpc, terms.token, data));
  } catch (error) {
    if (error instanceof RpcError) return 'unreachable';
    throw error;
  }
}

async function tryCall(rpc: Rpc, to: Hex, data: Hex): Promise<PermitWord> {
  try {
    await rpc.tryCall({ from: caller, to, data, gas: gasLimit });
    return 'accepted';
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return 'refused';
    throw error;
  }
}

/** A signature of a key's length goes to the classic permit, any other to the one that takes bytes. */
function permitCall({ owner, spender, value, deadline }: PermitTerms, signature: Hex): Hex | null {
  if (signature.length !== 132) {
    return encodeFunctionData({ abi, functionName: 'permit', args: [owner, spender, value, deadline, signature] });
  }
  try {
    const { r, s } = parseSignature(signature);
    const v = Number.parseInt(signature.slice(130), 16);
    return encodeFunctionData({ abi, functionName: 'permit', args: [owner, spender, value, deadline, v, r, s] });
  } catch {
    return null; // no recovery bit
  }
}

/** The calldata by which an owner lets a spender spend so much. */
export function approveCall({ spender }: Spending, value: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] });
}
