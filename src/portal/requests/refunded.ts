import { explorerLink } from '../../checkout/transactions.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { RefundRow } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { shortAddress, stateLine } from '../../ui/components.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fillHtml, type Words } from '../../ui/language.ts';
import { refundLabel, refundShapes } from '../../web/refunded.ts';

/** What the network reports about a merchant's refund transaction, and the transaction. */
export function refundDetails(words: Words, refund: RefundRow, chains: ChainConfig[]): Html {
  const chain = findChain(chains, refund.chain_id);
  const { return_tx_hash: hash } = refund;
  return html`<p>${textOf(words, refund)}</p>${hash !== null && html`<p>${explorerLink(chain, hash)}</p>`}`;
}

/** As `refundDetails`, for a place that shows what needs attention. */
export function refundLine(words: Words, refund: RefundRow, chains: ChainConfig[]): Html {
  return stateLine(refundShapes[refund.state], refundLabel(words, refund), refundDetails(words, refund, chains));
}

function textOf(words: Words, { state, given_micro, to_address }: RefundRow): Html | string {
  const portal = portalTexts(words);
  const { refunded } = portal;
  if (state !== 'sent' && state !== 'confirmed') return refunded[state];
  if (given_micro === null) return refunded.unseen;
  const values = { amount: groupMicro(words, BigInt(given_micro)), address: shortAddress(to_address) };
  return fillHtml(commonTexts(words).refunded[state === 'sent' ? 'seenRest' : 'confirmedRest'], values);
}
