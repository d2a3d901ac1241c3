import { type Address, decodeAbiParameters, domainSeparator, encodeFunctionData, parseAbi, zeroAddress } from 'viem';
import type { ChainConfig, TokenConfig } from '../config/chains.ts';
import { minuteMs } from '../lib/durations.ts';
import { queryWithFailover } from './failover.ts';
import { connectRpc, type Hex, type Rpc, RpcError } from './rpc.ts';

/** The EIP-712 domain of a token's authorizations and permits, besides the token's own chain and address. */
export type TokenDomain = { name: string; version: string };

const timeoutMs = 3_000;
/** How long a domain is kept: a token's issuer may rename it by an upgrade. */
const keptMs = 60 * minuteMs;
/**
 * How long the lack of one is kept, since some endpoints refuse a call that they cannot run at the moment, and one in
 * doubt.
 */
const keptBrieflyMs = minuteMs;
const maxTextLength = 100;
/** Tokens that do not report a version use this one. */
const usualVersion = '1';
const zeroWord: Hex = `0x${'00'.repeat(32)}`;

const abi = parseAbi([
  'function name() view returns (string)',
  'function version() view returns (string)',
  'function DOMAIN_SEPARATOR() view returns (bytes32)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
]);
const [nameCall, versionCall, separatorCall] = (['name', 'version', 'DOMAIN_SEPARATOR'] as const).map((functionName) =>
  encodeFunctionData({ abi, functionName }),
) as [Hex, Hex, Hex];
const stateCall = (authorizer: Address, nonce: Hex) =>
  encodeFunctionData({ abi, functionName: 'authorizationState', args: [authorizer, nonce] });

type Kept = { domain: TokenDomain | null; readAtMs: number; forMs: number };
const known = new WeakMap<TokenConfig, Kept>();

/**
 * The domain of a token whose holders can sign transfers (EIP-3009), as the token itself says it. Its separator must be
 * the one that follows from name and version, so that the token accepts what is signed.
 *
 * @returns null for a token without EIP-3009, or whose domain cannot be determined
 * @throws RpcError when no endpoint answers
 */
export async function readTokenDomain(chain: ChainConfig, token: TokenConfig): Promise<TokenDomain | null> {
  const kept = known.get(token);
  if (kept && performance.now() < kept.readAtMs + kept.forMs) return kept.domain;
  const domain = await queryWithFailover(chain, timeoutMs, (rpc) =>
    queryAuthorizedDomain(rpc, chain.chainId, token.address),
  );
  known.set(token, { domain, readAtMs: performance.now(), forMs: domain ? keptMs : keptBrieflyMs });
  return domain;
}

/**
 * The token refused a signature: perhaps its domain is another by now. It is read again, but no more often than once a
 * minute, since anybody can hand in a wrong signature.
 */
export function doubtTokenDomain(token: TokenConfig): void {
  const kept = known.get(token);
  if (kept) kept.forMs = keptBrieflyMs;
}

/**
 * Whether any endpoint says that an authorization was used or cancelled on the chain.
 *
 * @throws RpcError when one does not answer
 */
export async function isAuthorizationUsed(
  chain: ChainConfig,
  { token, authorizer, nonce }: { token: Hex; authorizer: Hex; nonce: Hex },
): Promise<boolean> {
  const answers = await Promise.all(
    chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).call(token, stateCall(authorizer, nonce))),
  );
  return answers.some((answer) => answer !== zeroWord);
}

/**
 * Whether any endpoint knows a transaction that waits to be mined and executes an authorization: whoever sent it, it is
 * no longer secret, and anybody can hand it in. An endpoint that cannot answer counts as knowing none.
 */
export async function isAuthorizationPending(
  chain: ChainConfig,
  { token, authorizer, nonce }: { token: Hex; authorizer: Hex; nonce: Hex },
): Promise<boolean> {
  const data = stateCall(authorizer, nonce);
  const answers = await Promise.allSettled(
    chain.rpcUrls.map((url) => connectRpc(url, timeoutMs).call(token, data, 'pending')),
  );
  return answers.some((answer) => answer.status === 'fulfilled' && answer.value !== zeroWord);
}

/** As `queryDomain`, but null for a token whose holders cannot sign transfers. */
async function queryAuthorizedDomain(rpc: Rpc, chainId: number, token: Hex): Promise<TokenDomain | null> {
  const state = ask(rpc, token, stateCall(zeroAddress, zeroWord));
  const [domain, unused] = await Promise.all([queryDomain(rpc, chainId, token), state]);
  return unused === zeroWord ? domain : null;
}

/**
 * The name and version that a token reports, if its own separator follows from them. A token without a version uses the
 * usual one.
 */
export async function queryDomain(rpc: Rpc, chainId: number, token: Hex): Promise<TokenDomain | null> {
  const [nameAnswer, versionAnswer, separator] = await Promise.all(
    [nameCall, versionCall, separatorCall].map((data) => ask(rpc, token, data)),
  );
  const name = nameAnswer && readText(nameAnswer);
  const version = versionAnswer ? readText(versionAnswer) : usualVersion;
  if (!name || !version || !separator) return null;
  const domain = { name, version, chainId, verifyingContract: token };
  return domainSeparator({ domain }) === separator ? { name, version } : null;
}

/** Calls a token; null if it has no such function. */
export async function ask(rpc: Rpc, token: Hex, data: Hex): Promise<Hex | null> {
  try {
    const answer = (await rpc.call(token, data)) as Hex;
    return answer === '0x' ? null : answer;
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'refused') return null;
    throw error;
  }
}

function readText(answer: Hex): string | null {
  try {
    const [text] = decodeAbiParameters([{ type: 'string' }], answer);
    return text.length <= maxTextLength ? text : null;
  } catch {
    return null; // not what a token answers
  }
}
