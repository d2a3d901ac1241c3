/**
 * What was typed on a page survives a reload, also that of a phone which dropped the page while its owner was in a
 * wallet app. It stays in this tab, and a page that was opened anew gets nothing of it.
 */

import { type FormValues, typeAgain, typedIn } from './form-values.ts';
import { tabStorage } from './storage.ts';

type Kept = { typed: FormValues; message: string | null };
const key = 'page';
const ownLines = /^(?:Nonce|Issued At|Expiration Time): (.*)$/gm;

const messageField = () => document.querySelector<HTMLInputElement>('input[type="hidden"][name="message"]');
const line = (message: string, name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(message)?.[1] ?? '';

let isSent = false;
/** Forgets what was kept of this page, because a form was sent: its response begins afresh. */
export function discardPage(): void {
  isSent = true;
  tabStorage.removeItem(key);
}

function keep(): void {
  if (isSent) return;
  const kept: Kept = { typed: typedIn(document), message: messageField()?.value ?? null };
  if (kept.message === null && Object.keys(kept.typed).length === 0) tabStorage.removeItem(key);
  else tabStorage.setItem(key, JSON.stringify(kept));
}

/** A message that asks for the same as the new one and was still valid when that was made: it may be signed already. */
function putBackMessage(kept: string): void {
  const field = messageField();
  const shown = field?.form?.querySelector('pre');
  if (!field || !shown || kept.replace(ownLines, '') !== field.value.replace(ownLines, '')) return;
  if (line(kept, 'Expiration Time') <= line(field.value, 'Issued At')) return;
  field.value = kept;
  shown.textContent = kept;
}

/** Fills in a reloaded page again, and keeps what is typed from now on. */
export function keepPage(): void {
  const kept = JSON.parse(tabStorage.getItem(key) ?? 'null') as Kept | null;
  tabStorage.removeItem(key);
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (kept && navigation?.type !== 'navigate') {
    if (kept.message !== null) putBackMessage(kept.message);
    typeAgain(document, kept.typed);
    for (const field of document.querySelectorAll<HTMLInputElement>('details input, details textarea')) {
      const place = field.closest('details');
      if (!place || field.value === field.defaultValue) continue;
      place.open = true;
      place.dataset.typed = '';
    }
  }
  addEventListener('submit', discardPage);
  addEventListener('pagehide', keep);
  document.addEventListener('visibilitychange', () => document.hidden && keep());
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) isSent = false;
  });
}
