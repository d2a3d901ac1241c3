/** How long a button is `.done` and says that it has copied (ms). */
export const doneMs = 2_000;

/** What ends `.done` of a button. A second press begins the time anew. */
const ending = new WeakMap<HTMLElement, number>();

/**
 * Copies what a `[data-copy]` button names. If the browser denies access to the clipboard, the text is selected so that
 * the user can copy it.
 *
 * @param ended called when the button is no longer `.done`
 */
export async function copyFrom(
  button: HTMLElement,
  say: (text: string) => void,
  copied: string,
  ended = () => {},
): Promise<void> {
  try {
    await navigator.clipboard.writeText(button.dataset.copy ?? '');
  } catch {
    const shown = button.closest('.copyable')?.querySelector('.mono');
    if (shown) getSelection()?.selectAllChildren(shown);
    return;
  }
  button.classList.add('done');
  say(copied);
  clearTimeout(ending.get(button));
  const end = () => {
    button.classList.remove('done');
    ended();
  };
  ending.set(button, window.setTimeout(end, doneMs));
}
