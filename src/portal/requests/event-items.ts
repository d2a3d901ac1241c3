import { html } from '../../lib/text/html.ts';
import { portalTexts } from '../../texts/portal.ts';
import { fill, type Words } from '../../ui/language.ts';
import type { AttemptRow, LoggedDelivery } from '../../webhooks/delivery-log.ts';
import { attemptAnchor, deliveriesPath } from '../webhooks/deliveries.ts';
import type { TimelineItem } from './timeline.ts';

/**
 * The history of a request's event, for a timeline. Each attempt links to its request and response.
 *
 * @param hindrance why no attempt is made for now; null if nothing hinders it
 */
export function eventItems(words: Words, delivery: LoggedDelivery, hindrance: string | null): TimelineItem[] {
  const { events } = portalTexts(words).request;
  const { log, state } = delivery;
  const path = `${deliveriesPath}/${delivery.id}`;
  const isWaiting = state === 'waiting';
  const isFirst = isWaiting && log.length === 0;
  const items: TimelineItem[] = [
    {
      at: delivery.created_at,
      kind: 'waiting',
      title: events.event,
      path,
      rest: isFirst ? (hindrance ?? events.eventWaits) : null,
    },
    ...log.map((attempt, i) => attemptItem(words, attempt, `${path}#${attemptAnchor(i + 1)}`)),
  ];
  if (state === 'exhausted') {
    items.push({ at: null, kind: 'failed', title: events.exhausted, rest: events.exhaustedRest });
  }
  if (isWaiting && !isFirst) {
    const at = hindrance === null ? delivery.next_attempt_at : null;
    items.push({ at, kind: 'waiting', title: events.next, rest: hindrance });
  }
  return items;
}

function attemptItem(words: Words, attempt: AttemptRow, path: string): TimelineItem {
  const { events, failures } = portalTexts(words).request;
  const { status_code: status, duration_ms: ms, error } = attempt;
  const host = URL.parse(attempt.url)?.host ?? attempt.url;
  const values = { host, status: status ?? '', ms };
  const at = attempt.started_at;
  if (error === null) {
    return { at, kind: 'paid', title: fill(events.delivered, values), path, rest: fill(events.attemptDone, values) };
  }
  const known = Object.entries(failures).find(([name]) => name === error)?.[1] ?? failures.other;
  const why = fill(known, { status: status ?? '', error });
  return {
    at,
    kind: 'attention',
    title: fill(events.attempt, values),
    path,
    rest: html`
      <p>${fill(events.attemptFailed, { ...values, why })}</p>
      ${attempt.response_body && html`<pre class="code" tabindex="0">${attempt.response_body.slice(0, 500)}</pre>`}
    `,
  };
}
