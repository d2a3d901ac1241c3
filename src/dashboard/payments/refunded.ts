import type { ChainConfig } from '../../config/chains.ts';
import { type Html, html } from '../../lib/text/html.ts';
import { keyOf, writeTransferKey } from '../../payments/transfers.ts';
import { hasSender } from '../../refunds/obstacle.ts';
import type { RefundRow } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { descriptionList, shortAddress, stateLine } from '../../ui/components.ts';
import { copyableFact } from '../../ui/copyable.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { refundLabel, refundShapes } from '../../web/refunded.ts';

/**
 * Why a payment cannot be refunded here; null if it can.
 *
 * @param chains the chains of its mode that this node reads
 */
export function refundHindrance(
  words: Words,
  chains: readonly ChainConfig[],
  { fromAddress, chainId }: { fromAddress: string; chainId: number },
): string | null {
  const { refund: t } = dashboardTexts(words);
  if (!hasSender(fromAddress)) return t.noSender;
  return chains.some((chain) => chain.chainId === chainId) ? null : t.noNetwork;
}

/** Says that the refund of a payment is started, and what the network reports about its recorded transaction. */
export function refundLine(words: Words, refund: RefundRow): Html {
  const { refunded: t } = dashboardTexts(words);
  const { refunded } = commonTexts(words);
  const { state, given_micro } = refund;
  const values = { amount: groupMicro(words, BigInt(given_micro ?? 0)), address: shortAddress(refund.to_address) };
  const kind = refundShapes[state];
  if (state === 'sent') {
    if (given_micro === null) return stateLine('waiting', t.unseen, t.unseenRest);
    return stateLine(kind, t.seen, html`${fillHtml(refunded.seenRest, values)}${difference(words, refund)}`);
  }
  if (state === 'confirmed') {
    return stateLine(
      kind,
      refundLabel(words, refund),
      html`${fillHtml(refunded.confirmedRest, values)}${difference(words, refund)}`,
    );
  }
  return stateLine(kind, t[state], t[`${state}Rest`]);
}

/** By how much the refund was too small or too large. */
function difference(words: Words, { given_micro, usdc_micro }: RefundRow): Html | null {
  const { refunded: t } = dashboardTexts(words);
  const beyond = BigInt(given_micro ?? usdc_micro) - BigInt(usdc_micro);
  if (beyond === 0n) return null;
  const amount = groupMicro(words, beyond < 0n ? -beyond : beyond);
  return html` ${fill(beyond < 0n ? t.less : t.more, { amount })}`;
}

/** The link to where another transaction can be recorded; null unless the recorded one is in doubt. */
export function anotherLink(words: Words, refund: RefundRow): Html | null {
  const isInDoubt = refund.state === 'other' || (refund.state === 'sent' && refund.given_micro === null);
  if (!isInDoubt) return null;
  const name = writeTransferKey(keyOf(refund));
  return html`<p><a href="/dashboard/give-back/${name}">${dashboardTexts(words).refunded.another}</a></p>`;
}

/** The refund transaction. */
export function refundFacts(words: Words, refund: RefundRow): Html {
  const { return_tx_hash: hash } = refund;
  return descriptionList([hash === null ? null : copyableFact(words, dashboardTexts(words).refund.hash, hash)]);
}
