import { type Html, html } from '../../lib/text/html.ts';
import type { CollectionState, TroubledRow } from '../../plans/collect/read.ts';
import type { ChargeRow } from '../../plans/read.ts';
import { chargesTexts } from '../../texts/charges.ts';
import type { StateKind } from '../../ui/components.ts';
import { instant } from '../../ui/formats.ts';
import { fillHtml, type Words } from '../../ui/language.ts';
import { badge } from '../../web/table.ts';

const shapes: Record<CollectionState, StateKind> = {
  waiting: 'waiting',
  sent: 'waiting',
  charged: 'paid',
  paid: 'paid',
  asked: 'attention',
  past_due: 'attention',
  stopped: 'ended',
};

/** How an automatic charge stands: as a word, why it last failed, and when it is tried again. */
export function collectionCell(words: Words, row: ChargeRow): Html | null {
  const { collection, collect_reason: reason, next_attempt_at: next } = row;
  if (collection === null) return null;
  const t = chargesTexts(words);
  const retrying = collection === 'waiting' && reason !== null;
  return html`
    ${retrying ? badge('attention', t.retrying) : badge(shapes[collection], t.states[collection])}
    ${reason !== null && html`<p class="after-state quiet">${t.theirs[reason]}</p>`}
    ${next !== null && html`<p class="after-state quiet">${fillHtml(t.next, { time: instant(words, next) })}</p>`}
  `;
}

/** In a list of plans: that a charge is tried again, why, and when; null where nothing is wrong. */
export function troubleNote(words: Words, trouble: TroubledRow | undefined): Html | null {
  if (!trouble) return null;
  const t = chargesTexts(words);
  return html`
    <p class="after-state quiet">${t.theirs[trouble.reason]}</p>
    <p class="after-state quiet">${fillHtml(t.next, { time: instant(words, trouble.due_at) })}</p>
  `;
}
