import { canAfford } from '../../chain/relay/afford.ts';
import { nullOfRpc } from '../../chain/rpc.ts';
import { readTokenDomain, type TokenDomain } from '../../chain/token-domain.ts';
import { type ChainConfig, limitsOf, type TokenConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { withinOr } from '../../lib/time.ts';

/** A token on a network, and how much of it is due now. */
export type Due = { chain: ChainConfig; token: TokenConfig; amountMicro: bigint };
/** A due amount that can be paid with only a signature: the relayer sends the transfer. */
export type AuthorizedOffer = Due & { domain: TokenDomain };

/** The most gas that executing an authorization may use, nearly all of it for a contract wallet's signature check. */
export const maxGas = 500_000n;
/** The gas that one signed by a key uses, with room for changes of the token's code. */
const usualGas = 150_000n;
/** A page waits no longer for a token's domain. A later answer is used by the next page. */
const domainWaitMs = 400;

/**
 * Which of these can be paid with a signature, without coin for the network fee: the token has EIP-3009, the amount is
 * worth the fee, and the relayer can send and has a budget for it. Others are simply not offered.
 */
export async function authorizedOffers(
  ctx: Context,
  merchant: { scope: Scope; accountId: string },
  dues: readonly Due[],
): Promise<AuthorizedOffer[]> {
  const worthwhile = dues.filter(({ chain, amountMicro }) => amountMicro >= limitsOf(chain).minPaymentMicro);
  const chains = [...new Set(worthwhile.map(({ chain }) => chain))];
  const affordable = await Promise.all(chains.map((chain) => canAfford(ctx, merchant, chain, usualGas)));
  const able = worthwhile.filter(({ chain }) => affordable[chains.indexOf(chain)]);
  const domains = await Promise.all(
    able.map(({ chain, token }) => withinOr(domainOrNull(chain, token), domainWaitMs, null)),
  );
  return able.flatMap((due, i) => {
    const domain = domains[i];
    return domain ? [{ ...due, domain }] : [];
  });
}

/** One query at a time, so that not every page queries a network that does not answer. */
const asked = new WeakMap<TokenConfig, Promise<TokenDomain | null>>();

function domainOrNull(chain: ChainConfig, token: TokenConfig): Promise<TokenDomain | null> {
  const before = asked.get(token);
  if (before) return before;
  const asking = readTokenDomain(chain, token)
    .catch(nullOfRpc)
    .finally(() => asked.delete(token));
  asked.set(token, asking);
  return asking;
}
