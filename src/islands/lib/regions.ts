import { minuteMs } from '../../lib/durations.ts';
import { localTimes } from './local-times.ts';

/**
 * Regions of a page that refresh themselves: `<div data-region="name">` on a page where an element names the stream,
 * `<main data-live="/portal/events">`. When the server reports a change, the page is fetched again and its regions are
 * replaced, so there is one rendering, on the server.
 */
const source = document.querySelector<HTMLElement>('[data-live]')?.dataset.live;

/** What the server said last: browser code may have changed a region since, to make its buttons work. */
const told = new WeakMap<Element, string>();
for (const region of document.querySelectorAll('[data-region]')) told.set(region, region.innerHTML);
localTimes(document);

const quietMs = 300;
const firstRetryMs = 5000;
const longestRetryMs = minuteMs;

/** Somebody types or has unfolded a question: the region waits. */
function inUse(region: Element): boolean {
  const active = document.activeElement;
  const typing = active !== null && region.contains(active) && active.matches('input, select, textarea');
  return typing || region.querySelector('details.confirm[open]') !== null;
}

/** Asks for the address anew. A reload would send a form again where the page is the answer to one. */
function leave(): void {
  location.replace(location.pathname + location.search);
}

async function renew(): Promise<void> {
  const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
  // The session has ended, so the page's content must not stay visible. A form's address leads to its page.
  if (answer.redirected && new URL(answer.url).pathname.endsWith('/sign-in')) return leave();
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const region of document.querySelectorAll<HTMLElement>('[data-region]')) {
    const next = fresh.querySelector<HTMLElement>(`[data-region="${region.dataset.region}"]`);
    if (!next || next.innerHTML === told.get(region) || inUse(region)) continue;
    region.innerHTML = next.innerHTML;
    told.set(region, next.innerHTML);
    localTimes(region);
  }
}

function follow(address: string, retryMs = firstRetryMs): void {
  let timer = 0;
  let nextRetryMs = retryMs;
  const soon = () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => renew().catch(() => {}), quietMs);
  };
  const events = new EventSource(address);
  events.addEventListener('message', soon);
  // A connection that was lost may have missed something.
  events.addEventListener('open', () => {
    nextRetryMs = firstRetryMs;
    soon();
  });
  // The session has ended, or its person may do something else now.
  events.addEventListener('over', leave);
  events.addEventListener('error', () => {
    if (events.readyState !== EventSource.CLOSED) return;
    soon();
    setTimeout(() => follow(address, Math.min(nextRetryMs * 2, longestRetryMs)), nextRetryMs);
  });
  addEventListener('pagehide', () => events.close(), { once: true });
}

if (source) follow(source);
