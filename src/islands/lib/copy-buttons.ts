import { copyFrom } from './copy.ts';
// Stores the server's HTML before the buttons below are shown. The bundler keeps that order only if a name is imported.
import { onRenewed } from './regions.ts';

/** Buttons that copy what their `data-copy` holds; they say `data-copied` for a moment. */
onRenewed((place) => {
  for (const button of place.querySelectorAll<HTMLElement>('[data-copy][data-copied]')) button.hidden = false;
});
/** What buttons say before they are pressed. A second press finds what the first one made them say. */
const labels = new WeakMap<HTMLElement, string | null>();

document.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('[data-copy][data-copied]');
  if (!button) return;
  // A button without text shows by its style that it has copied; its label says so to screen readers.
  const isDrawn = button.classList.contains('copy');
  const say = (text: string | null) => {
    if (isDrawn) button.ariaLabel = text;
    else button.textContent = text;
  };
  if (!labels.has(button)) labels.set(button, isDrawn ? button.ariaLabel : button.textContent);
  void copyFrom(button, say, button.dataset.copied ?? '', () => say(labels.get(button) ?? null));
});
