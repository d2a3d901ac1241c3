/** How long a button is `.done` and says that it has copied (ms). */
export const doneMs = 2_000;

/**
 * Copies what a `[data-copy]` button names. If the browser denies access to the clipboard, the text is selected so that
 * the user can copy it.
 */
export async function copyFrom(button: HTMLElement, say: (text: string) => void, copied: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
  } catch {
    const shown = button.closest('.copyable')?.querySelector('.mono');
    if (shown) getSelection()?.selectAllChildren(shown);
    return;
  }
  button.classList.add('done');
  say(copied);
  setTimeout(() => button.classList.remove('done'), doneMs);
}
