import { type Html, html } from '../../lib/text/html.ts';
import type { CollectionState, TroubledRow } from '../../plans/collect/read.ts';
import type { ChargeRow } from '../../plans/read.ts';
import { chargesTexts } from '../../texts/charges.ts';
import { badge, type StateKind } from '../../ui/components.ts';
import { instant } from '../../ui/formats.ts';
import { fillHtml, type Words } from '../../ui/language.ts';

const shapes: Record<CollectionState, StateKind> = {
  waiting: 'waiting',
  sent: 'waiting',
  charged: 'paid',
  paid: 'paid',
  asked: 'attention',
  past_due: 'attention',
  stopped: 'ended',
};

/** The state of an automatic charge: as a word, with the last failure and the next attempt. */
export function collectionCell(words: Words, row: ChargeRow): Html | null {
  const { collection, collect_reason: reason, next_attempt_at: next } = row;
  if (collection === null) return null;
  const t = chargesTexts(words);
  const retrying = collection === 'waiting' && reason !== null;
  return html`
    <div>
      ${retrying ? badge('attention', t.retrying) : badge(shapes[collection], t.states[collection])}
      ${reason !== null && html`<div class="quiet">${t.theirs[reason]}</div>`}
      ${next !== null && html`<div class="quiet">${fillHtml(t.next, { time: instant(words, next) })}</div>`}
    </div>
  `;
}

/** The state of a plan in a list. Below it, why a charge failed and when it is retried. */
export function withTrouble(words: Words, standing: Html, trouble: TroubledRow | undefined): Html {
  if (!trouble) return standing;
  const t = chargesTexts(words);
  return html`
    <div>
      ${standing}
      <div class="quiet">${t.theirs[trouble.reason]}</div>
      <div class="quiet">${fillHtml(t.next, { time: instant(words, trouble.due_at) })}</div>
    </div>
  `;
}
