import { keyOf } from './typed.ts';

const focusable = 'a[href], button, input, select, textarea, summary, [tabindex]';

/** What tells elements of a region apart that are rendered again: where they lead, or what they say. */
function nameOf(element: Element): string {
  if (element instanceof HTMLAnchorElement) return `a ${element.href}`;
  if (element instanceof SVGElement) return 'column';
  const form = element.closest('form');
  const text = `${element.tagName} ${element.getAttribute('name')} ${element.ariaLabel} ${element.textContent}`;
  return form ? `${text} ${keyOf(form)}` : text;
}

/**
 * Replaces a region's content. The focus stays where it was: on the link, button or column with the same name, and
 * among equal ones at the same place. If there is none, it is lost, so that no key presses something else.
 */
export function keepFocus(region: Element, replace: () => void): void {
  const focused = document.activeElement;
  const name = focused && region.contains(focused) ? nameOf(focused) : null;
  const equal = () => [...region.querySelectorAll<HTMLElement>(focusable)].filter((one) => nameOf(one) === name);
  const place = equal().indexOf(focused as HTMLElement);
  replace();
  equal()[place]?.focus({ preventScroll: true });
}
