import { copyFrom, doneMs } from './copy.ts';
// Remembers what the server said before the buttons below are shown. The bundler keeps that order for names only.
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
      // A button that is only a drawing shows by itself that it was done, and says so.
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
