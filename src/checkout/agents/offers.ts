import type { Hex } from '../../chain/rpc.ts';
import type { AuthorizedOffer } from '../../payments/authorized/offer.ts';
import type { Checkout } from '../read.ts';
import type { Requirements } from './contract.ts';
import { timeoutSeconds } from './rules.ts';

/** One way to pay by a signed authorization, in our own terms and as x402 requirements. */
export type AgentOffer = AuthorizedOffer & { requirements: Requirements };

/** Every way to pay a request by a signed authorization now; empty if there is none. */
export function agentOffers({ row, now, feeless }: Checkout): AgentOffer[] {
  const maxTimeoutSeconds = timeoutSeconds(now, row.expires_at);
  if (maxTimeoutSeconds === null) return [];
  return feeless.map((offer) => ({
    ...offer,
    requirements: {
      scheme: 'exact',
      network: `eip155:${offer.chain.chainId}`,
      amount: offer.amountMicro.toString(),
      asset: offer.token.address,
      payTo: row.wallet_address as Hex,
      maxTimeoutSeconds,
      extra: offer.domain,
    },
  }));
}
