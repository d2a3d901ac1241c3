import { type Html, html } from '../../lib/text/html.ts';
import type { ReturnRow } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { dashboardTexts } from '../../texts/dashboard.ts';
import { descriptionList, mono, shortAddress, stateLine } from '../../ui/components.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fill, fillHtml, type Words } from '../../ui/language.ts';
import { returnedShapes } from '../../web/refunded.ts';

/** That a payment is taken to be given back, and what the network says of the transaction that is said to have done so. */
export function returnedLine(words: Words, given: ReturnRow): Html {
  const { returned: t } = dashboardTexts(words);
  const { returned } = commonTexts(words);
  const { state, given_micro } = given;
  const values = { amount: groupMicro(words, BigInt(given_micro ?? 0)), address: shortAddress(given.to_address) };
  const kind = returnedShapes[state];
  if (state === 'sent') {
    if (given_micro === null) return stateLine('waiting', t.unseen, t.unseenRest);
    return stateLine(kind, t.seen, html`${fillHtml(returned.seenRest, values)}${difference(words, given)}`);
  }
  if (state === 'confirmed') {
    return stateLine(kind, t.confirmed, html`${fillHtml(returned.confirmedRest, values)}${difference(words, given)}`);
  }
  return stateLine(kind, t[state], t[`${state}Rest`]);
}

/** How much less, or more, it was than there was to give back. */
function difference(words: Words, { given_micro, usdc_micro }: ReturnRow): Html | null {
  const { returned: t } = dashboardTexts(words);
  const beyond = BigInt(given_micro ?? usdc_micro) - BigInt(usdc_micro);
  if (beyond === 0n) return null;
  const amount = groupMicro(words, beyond < 0n ? -beyond : beyond);
  return html` ${fill(beyond < 0n ? t.less : t.more, { amount })}`;
}

/** The transaction itself. */
export function returnedFacts(words: Words, given: ReturnRow): Html {
  const { return_tx_hash: hash } = given;
  return descriptionList([hash === null ? null : [dashboardTexts(words).giveBack.hash, mono(hash)]]);
}
