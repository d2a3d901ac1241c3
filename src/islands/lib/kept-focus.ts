import { keyOf } from './form-values.ts';

const focusable = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** What tells elements of a region apart that are rendered again: where they lead, what they choose, what they say. */
function nameOf(element: Element): string {
  if (element instanceof HTMLAnchorElement) return `a ${element.href}`;
  if (element instanceof SVGElement) return 'column';
  const { wallet } = (element as HTMLElement).dataset;
  if (wallet !== undefined) return `wallet ${wallet}`;
  if (element instanceof HTMLInputElement && element.type === 'radio') return `radio ${element.name} ${element.value}`;
  const form = element.closest('form');
  const text = `${element.tagName} ${element.getAttribute('name')} ${element.ariaLabel} ${element.textContent}`;
  return form ? `${text} ${keyOf(form)}` : text;
}

/**
 * Replaces a region's content. The focus stays where it was: on the link, button or column with the same name, and
 * among equal ones at the same place. If there is none, it moves to a text, so that no key presses something else, and
 * a screen reader does not start at the top of the page again.
 *
 * @param replace must leave the content as people see it: what is still hidden cannot have the focus
 * @param text finds the text afterwards
 */
export function keepFocus(region: HTMLElement, replace: () => void, text: () => HTMLElement): void {
  const focused = document.activeElement;
  if (!focused || !region.contains(focused)) {
    replace();
    return;
  }
  const name = nameOf(focused);
  const equal = () => [...region.querySelectorAll<HTMLElement>(focusable)].filter((one) => nameOf(one) === name);
  const place = equal().indexOf(focused as HTMLElement);
  replace();
  const same = equal()[place];
  same?.focus({ preventScroll: true });
  if (!same || document.activeElement !== same) focusText(text());
}

/** Focuses an element that is no control, until the focus leaves it. */
function focusText(element: HTMLElement): void {
  element.tabIndex = -1;
  element.addEventListener('blur', () => element.removeAttribute('tabindex'), { once: true });
  element.focus({ preventScroll: true });
}
