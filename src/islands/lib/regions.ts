import { minuteMs } from '../../lib/durations.ts';
import { doneMs } from './copy.ts';
import { keepDetailsState } from './details-state.ts';
import { typeAgain, typedIn } from './form-values.ts';
import { keepFocus } from './kept-focus.ts';
import { keepTyped } from './kept-forms.ts';
import { localTimes } from './local-times.ts';
import { openedAddress } from './notice-once.ts';

/**
 * Regions of a page that refresh themselves: `<div data-region="name">` on a page where an element names the stream,
 * `<main data-live="/portal/events">`. When the server reports a change, the page is fetched again and its regions are
 * replaced, so there is one rendering, on the server.
 */
const source = document.querySelector<HTMLElement>('[data-live]')?.dataset.live;

/** The server's last HTML of each region. Browser code may have changed the region since, to make its buttons work. */
const serverHtml = new WeakMap<Element, string>();
for (const region of document.querySelectorAll('[data-region]')) serverHtml.set(region, region.innerHTML);

const listeners: ((place: HTMLElement) => void)[] = [];
/** Calls a function now for the whole page, and later for each replaced region: for code that makes buttons work. */
export function onRenewed(listener: (place: HTMLElement) => void): void {
  listeners.push(listener);
  listener(document.body);
}
onRenewed(localTimes);

const quietMs = 300;
const firstRetryMs = 5000;
const maxRetryMs = minuteMs;
const answerMs = 20_000;
const tickMs = 5000;
/** How long the stream may be silent. The server sends a heartbeat every 25 s. */
const silentMs = 40_000;

/** Whether somebody types in a region, has unfolded a confirmation, or has just copied. It is not replaced then. */
function inUse(region: Element): boolean {
  const active = document.activeElement;
  const typing = active !== null && region.contains(active) && active.matches('input, select, textarea');
  return typing || region.querySelector('details.confirm[open], .done') !== null;
}

/** Requests the page's address again. A reload could submit a form again. */
function leave(): void {
  keepTyped();
  location.replace(location.pathname + location.search);
}

let asked = 0;
let newestShown = 0;

/**
 * @returns whether a changed region was not replaced because somebody uses it
 * @throws Error if the server cannot be reached, cannot answer now, or does not answer in time
 */
async function renew(): Promise<boolean> {
  const turn = ++asked;
  const signal = AbortSignal.timeout(answerMs);
  const answer = await fetch(openedAddress, { headers: { accept: 'text/html' }, signal });
  // The session has ended, so the page's content must not stay visible. A form's address leads to its page.
  if (answer.redirected && new URL(answer.url).pathname.endsWith('/sign-in')) {
    leave();
    return false;
  }
  if (answer.status === 429 || answer.status >= 500) throw new Error(String(answer.status));
  if (!answer.ok) return false;
  const html = await answer.text();
  // A slow answer to an earlier request would put back what a later one has replaced.
  if (turn < newestShown) return waits;
  newestShown = turn;
  let kept = false;
  const fresh = new DOMParser().parseFromString(html, 'text/html');
  for (const region of document.querySelectorAll<HTMLElement>('[data-region]')) {
    const next = fresh.querySelector<HTMLElement>(`[data-region="${region.dataset.region}"]`);
    if (!next || next.innerHTML === serverHtml.get(region)) continue;
    if (inUse(region)) {
      kept = true;
      continue;
    }
    const typed = typedIn(region);
    const replace = () => {
      keepDetailsState(region, serverHtml.get(region) ?? '', () => {
        region.innerHTML = next.innerHTML;
        typeAgain(region, typed);
      });
      for (const listener of listeners) listener(region);
    };
    keepFocus(region, replace, () => region.querySelector<HTMLElement>('h1, h2, h3') ?? region);
    serverHtml.set(region, next.innerHTML);
  }
  return kept;
}

let timer = 0;
let waits = false;
let renewRetryMs = firstRetryMs;

function renewIn(ms: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(async () => {
    try {
      waits = await renew();
      renewRetryMs = firstRetryMs;
    } catch {
      // The server reports a change once, so the page asks again by itself.
      renewIn(renewRetryMs);
      renewRetryMs = Math.min(renewRetryMs * 2, maxRetryMs);
      return;
    }
    if (waits && document.querySelector('[data-region] .done')) renewIn(doneMs);
  }, ms);
}

const soon = () => renewIn(quietMs);
// Once somebody has finished typing, or has folded the confirmation, the region is replaced.
for (const end of ['focusout', 'toggle']) document.addEventListener(end, () => waits && soon(), { capture: true });

let events: EventSource | undefined;
let heardAt = 0;
/** Since when there is no connection; null while there is. Short losses, as when a server restarts, are not shown. */
let lostAt: number | null = null;
const lossShownMs = 15_000;

/** Says that a page that looks alive is not: a cashier would wait for a payment that has long arrived. */
function showConnection(): void {
  const notice = document.querySelector<HTMLElement>('[data-no-connection]');
  const isLost = !navigator.onLine || (lostAt !== null && Date.now() - lostAt >= lossShownMs);
  if (notice) notice.hidden = !isLost;
}

let retryMs = firstRetryMs;

function connect(address: string): void {
  events?.close();
  heardAt = Date.now();
  lostAt ??= heardAt; // a request that nothing answers reports no error
  const own = new EventSource(address);
  events = own;
  const hear = () => {
    heardAt = Date.now();
  };
  own.addEventListener('here', hear);
  own.addEventListener('message', () => {
    hear();
    soon();
  });
  // Changes may have been missed while the connection was lost.
  own.addEventListener('open', () => {
    hear();
    lostAt = null;
    showConnection();
    retryMs = firstRetryMs;
    soon();
  });
  // The session has ended, or the user's role has changed.
  own.addEventListener('over', leave);
  own.addEventListener('error', () => {
    lostAt ??= Date.now();
    if (own.readyState !== EventSource.CLOSED) return;
    soon();
    setTimeout(() => events === own && connect(address), retryMs);
    retryMs = Math.min(retryMs * 2, maxRetryMs);
  });
}

/** An event source does not notice a connection that died silently, as while a device slept, or that never answers. */
function follow(address: string): void {
  const check = () => {
    const isSilent = events?.readyState !== EventSource.CLOSED && Date.now() - heardAt > silentMs;
    if (isSilent && !document.hidden) connect(address);
    showConnection();
  };
  connect(address);
  setInterval(check, tickMs);
  document.addEventListener('visibilitychange', check);
  addEventListener('online', () => connect(address));
  addEventListener('offline', showConnection);
  addEventListener('pagehide', () => events?.close());
  addEventListener('pageshow', ({ persisted }) => persisted && connect(address));
}

if (source) follow(source);
