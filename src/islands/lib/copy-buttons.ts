import { copyFrom } from './copy.ts';

/** Buttons that copy what their `data-copy` holds; they say `data-copied` for a moment. */
const shownMs = 2_000;

function show(place: ParentNode): void {
  for (const button of place.querySelectorAll<HTMLElement>('[data-copy][data-copied]')) button.hidden = false;
}

show(document);
// Regions that renew themselves bring new buttons.
new MutationObserver(() => show(document)).observe(document.body, { childList: true, subtree: true });
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
      setTimeout(() => say(label), shownMs);
    },
    button.dataset.copied ?? '',
  );
});
