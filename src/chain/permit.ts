import { encodeFunctionData, erc20Abi, keccak256, parseAbi, parseSignature, stringToHex } from 'viem';
import type { ChainConfig } from '../config/chains.ts';
import { queryWithFailover } from './failover.ts';
import { type Hex, RpcError } from './rpc.ts';
import { ask, queryDomain, type TokenDomain } from './token-domain.ts';
import { walletJson } from './typed-data.ts';
import { queryVerdict, succeeds, type Verdict } from './verdict.ts';

/** An allowance: whose tokens a spender may spend. Addresses in lower case. */
export type Spending = { token: Hex; owner: Hex; spender: Hex };

/** An EIP-2612 permit: it sets the allowance to `value` and does not add to it. */
export type PermitTerms = Spending & {
  value: bigint;
  /** The owner's nonce, which a permit uses up. */
  nonce: bigint;
  /** Unix seconds. */
  deadline: bigint;
};

/** What a token reports about an allowance. */
export type TokenAllowance = {
  /** The allowance now, in the token's smallest unit. */
  micro: bigint;
  /**
   * The domain and nonce that a permit is signed with; null for a token without EIP-2612, or whose domain cannot be
   * determined.
   */
  permit: { domain: TokenDomain; nonce: bigint } | null;
};

const timeoutMs = 5_000;
const gasLimit: Hex = '0x7a120';
/** Nobody's address: anybody may submit a permit. */
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
 * Reads an allowance, and the domain and nonce for a permit.
 *
 * @throws RpcError when no endpoint answers
 */
export function readTokenAllowance(chain: ChainConfig, spending: Spending): Promise<TokenAllowance> {
  return queryWithFailover(chain, timeoutMs, async (rpc) => {
    const { token, owner, spender } = spending;
    const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [owner, spender] });
    const nonces = encodeFunctionData({ abi, functionName: 'nonces', args: [owner] });
    const [micro, nonce, domain] = await Promise.all([
      rpc.call(token, allowance),
      ask(rpc, token, nonces),
      queryDomain(rpc, chain.chainId, token),
    ]);
    if (micro.length !== 66) throw new RpcError('malformed', `${rpc.host}: ${token} does not say an allowance`);
    const permit = domain && nonce?.length === 66 ? { domain, nonce: BigInt(nonce) } : null;
    return { micro: BigInt(micro), permit };
  });
}

/** A permit in the form that wallets accept: the JSON text of `eth_signTypedData_v4`. */
export function permitJson(domain: TokenDomain, chainId: number, { token, ...message }: PermitTerms): string {
  const full = { ...domain, chainId, verifyingContract: token };
  return walletJson({ domain: full, types: permitTypes, primaryType: 'Permit', message });
}

/**
 * Simulates a permit with the call that the contract for recurring payments makes. So this also works for wallets with
 * code, whose signatures only the token can check.
 */
export async function tryPermit(chain: ChainConfig, terms: PermitTerms, signature: Hex): Promise<Verdict> {
  const data = permitCall(terms, signature);
  if (data === null) return 'refused';
  const call = { from: caller, to: terms.token, data, gas: gasLimit };
  return queryVerdict(chain, timeoutMs, (rpc) => succeeds(rpc, call));
}

/** A signature with a key's length uses the classic permit, any other the one that takes bytes. */
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

/** The calldata with which an owner sets a spender's allowance. */
export function approveCall({ spender }: Spending, value: bigint): Hex {
  return encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] });
}
