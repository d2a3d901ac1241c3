/**
 * What was typed survives the end of a session. A form that is sent without a session leads to the sign-in, and the
 * sign-in back to its page, where it is filled in again for the same user.
 */
import { minuteMs } from '../../lib/durations.ts';
import { type FormValues, typeAgain, typedIn, valuesOf } from './form-values.ts';
import { browserStorage, tabStorage } from './storage.ts';

type Kept = { user: string; until: number; typed: FormValues };

/** In the tab: the form that was sent last. In the browser: what was lost, because a mailed link opens another tab. */
const key = 'typed';
const keptMs = 30 * minuteMs;

/** Who is signed in, as the page says. */
const user = (): string => document.querySelector<HTMLElement>('[data-user]')?.dataset.user ?? '';

function read(storage: typeof tabStorage): Kept | null {
  const kept = JSON.parse(storage.getItem(key) ?? 'null') as Kept | null;
  if (kept && kept.until > Date.now()) return kept;
  storage.removeItem(key);
  return null;
}

/** Removes what was lost when its time is over, also from a page that stays open; then calls back. */
function expireLost(then = () => {}): void {
  const lost = read(browserStorage);
  if (lost) setTimeout(expireLost, lost.until - Date.now(), then);
  else then();
}

const keptNow = (typed: FormValues): string =>
  JSON.stringify({ user: user(), until: Date.now() + keptMs, typed } satisfies Kept);

/** Keeps what was typed on this page, which is left because its session has ended. */
export function keepTyped(): void {
  const typed = typedIn(document);
  if (Object.keys(typed).length > 0) browserStorage.setItem(key, keptNow(typed));
}

/** On pages behind the sign-in: keeps each form when it is sent, and fills in what was lost. */
export function keepForms(): void {
  addEventListener('submit', ({ target }) => {
    const form = target as HTMLFormElement;
    if (form.method !== 'post') return;
    tabStorage.setItem(key, keptNow(valuesOf(form)));
    if (form.matches('[action$="/sign-out"]')) browserStorage.removeItem(key);
  });
  // The form that was sent from this tab was answered.
  tabStorage.removeItem(key);
  const lost = read(browserStorage);
  const isOwn = lost?.user === user();
  const [form] = typeAgain(document, isOwn ? lost.typed : {});
  if (form || !isOwn) browserStorage.removeItem(key);
  // What was lost on another page waits for that page.
  else expireLost();
  if (!form) return;
  for (let place = form.closest('details'); place; place = place.parentElement?.closest('details') ?? null) {
    place.open = true;
  }
  const notice = document.querySelector<HTMLElement>('[data-typed-again]');
  if (notice) notice.hidden = false;
  form.scrollIntoView({ block: 'nearest' });
}

/** On the page for signing in: says that what was typed will be there again. */
export function promiseTyped(): void {
  const promise = document.querySelector<HTMLElement>('[data-typed-kept]');
  if (!promise) return;
  const sent = tabStorage.getItem(key);
  tabStorage.removeItem(key);
  if (sent !== null && new URLSearchParams(location.search).has('unsaved')) browserStorage.setItem(key, sent);
  promise.hidden = read(browserStorage) === null;
  expireLost(() => {
    promise.hidden = true;
  });
}
