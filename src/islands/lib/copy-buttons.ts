import { copyFrom, doneMs } from './copy.ts';
// Stores the server's HTML before the buttons below are shown. The bundler keeps that order only if a name is imported.
import { onRenewed } from './regions.ts';

/** Buttons that copy what their `data-copy` holds; they say `data-copied` for a moment. */
onRenewed((place) => {
  for (const button of place.querySelectorAll<HTMLElement>('[data-copy][data-copied]')) button.hidden = false;
});
document.addEventListener('click', ({ target }) => {
  const button = (target as Element).closest<HTMLElement>('[data-copy][data-copied]');
  if (!button) return;
  void copyFrom(
    button,
    (copied) => {
      // A button without text shows by its style that it has copied; its label says so to screen readers.
      const isDrawn = button.classList.contains('copy');
      const label = isDrawn ? button.ariaLabel : button.textContent;
      const say = (text: string | null) => {
        if (isDrawn) button.ariaLabel = text;
        else button.textContent = text;
      };
      say(copied);
      setTimeout(() => say(label), doneMs);
    },
    button.dataset.copied ?? '',
  );
});
