import { explorerLink } from '../../checkout/transactions.ts';
import type { ChainConfig } from '../../config/chains.ts';
import { type Html, html } from '../../lib/text/html.ts';
import type { ReturnRow } from '../../refunds/read.ts';
import { commonTexts } from '../../texts/common.ts';
import { portalTexts } from '../../texts/portal.ts';
import { shortAddress, stateLine } from '../../ui/components.ts';
import { groupMicro } from '../../ui/formats.ts';
import { fillHtml, type Words } from '../../ui/language.ts';
import { returnedShapes } from '../../web/refunded.ts';

/** Whether the merchant gave a payment back, in a word. */
export const returnedWord = (words: Words, { state }: ReturnRow): string => commonTexts(words).returned.badges[state];

/** What the network says of the transaction by which a merchant gave a payment back, and the transaction. */
export function returnedRest(words: Words, given: ReturnRow, chains: ChainConfig[]): Html {
  const chain = chains.find(({ chainId }) => String(chainId) === given.chain_id);
  const { return_tx_hash: hash } = given;
  return html`<p>${textOf(words, given)}</p>${hash !== null && html`<p>${explorerLink(chain, hash)}</p>`}`;
}

/** The same beside what wants an eye. */
export function returnedLine(words: Words, given: ReturnRow, chains: ChainConfig[]): Html {
  return stateLine(returnedShapes[given.state], returnedWord(words, given), returnedRest(words, given, chains));
}

function textOf(words: Words, { state, given_micro, to_address }: ReturnRow): Html | string {
  const portal = portalTexts(words);
  const { returned } = portal;
  if (state !== 'sent' && state !== 'confirmed') return returned[state];
  if (given_micro === null) return returned.unseen;
  const values = { amount: groupMicro(words, BigInt(given_micro)), address: shortAddress(to_address) };
  return fillHtml(commonTexts(words).returned[state === 'sent' ? 'seenRest' : 'confirmedRest'], values);
}
