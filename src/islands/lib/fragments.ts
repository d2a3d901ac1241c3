import { keepFocus } from './kept-focus.ts';

/**
 * A fragment of the page as the server renders it, with its markup already escaped. On the wire it is still called a
 * part (`parts`, `data-part`), because open pages expect that.
 */
export type PageFragment = { name: string; version: string; html: string };

/** The place of each fragment. */
export function fragmentPlaces(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('[data-part]')];
}

/**
 * Inserts a new version of a fragment. Open details and typed text move to the elements at the same places. The focus
 * stays on its control, or moves to the message about the state.
 *
 * @param enhance shows what works only with script
 */
export function replaceFragment(place: HTMLElement, fragment: PageFragment, enhance: () => void): void {
  const statusMessage = document.querySelector<HTMLElement>('[data-part="news"]');
  const replace = () => {
    insert(place, fragment);
    enhance();
  };
  keepFocus(place, replace, () => statusMessage ?? place);
}

function insert(place: HTMLElement, { version, html }: PageFragment): void {
  const details = [...place.querySelectorAll('details')].map(({ open, dataset: { seen } }) => ({ open, seen }));
  const typed = [...place.querySelectorAll('input')].map(({ name, value, defaultValue }) =>
    value === defaultValue ? null : { name, value },
  );
  const ring = ringOf(place)?.getAttribute('stroke-dasharray');

  place.innerHTML = html;
  place.dataset.version = version;

  for (const [i, { open, seen }] of details.entries()) {
    const same = place.querySelectorAll('details')[i];
    if (!same) continue;
    same.open = open || same.querySelector('[aria-invalid]') !== null;
    if (seen) same.dataset.seen = seen; // what the page has folded once stays as its reader left it
  }
  for (const kept of typed) {
    const input = kept && place.querySelector<HTMLInputElement>(`input[name="${CSS.escape(kept.name)}"]`);
    if (input && input.type !== 'hidden' && input.type !== 'radio') input.value = kept.value;
  }
  if (ring) fillFrom(place, ring);
}

const ringOf = (place: HTMLElement) => place.querySelector('.fill');

/** Lets the ring of confirmations continue from its previous value. */
function fillFrom(place: HTMLElement, from: string): void {
  const ring = ringOf(place);
  if (!ring || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
  const to = ring.getAttribute('stroke-dasharray') ?? from;
  ring.animate([{ strokeDasharray: from }, { strokeDasharray: to }], { duration: 150, easing: 'ease-out' });
}

/** Whether somebody is typing there, or has typed. */
export function isInUse(place: HTMLElement): boolean {
  return [...place.querySelectorAll('input')].some(
    (input) => input.type !== 'hidden' && (input === document.activeElement || input.value !== input.defaultValue),
  );
}
