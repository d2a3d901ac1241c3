/**
 * Makes the API reference accessible for keyboards and screen readers, where its library does not: code that scrolls
 * can be focused, the name of every button contains its visible text, and roles fit their elements. The library renders
 * lazily, so this runs again whenever the page has changed.
 */
function mend(): void {
  const scrolling = document.querySelectorAll<HTMLElement>(':is(code.custom-scroll, .endpoints):not([tabindex])');
  for (const area of scrolling) area.tabIndex = 0;
  for (const button of document.querySelectorAll('button[role="none"]')) button.removeAttribute('role');
  // A combobox must say whether its list is open, and this one does not.
  for (const input of document.querySelectorAll('[contenteditable][role="combobox"]')) input.role = 'textbox';
  for (const code of document.querySelectorAll('.cm-content:not([aria-label])')) code.ariaLabel = 'Code';
  for (const opener of document.querySelectorAll('[aria-controls]:not([aria-expanded="false"])')) {
    const controlled = opener.getAttribute('aria-controls') ?? '';
    if (!document.getElementById(controlled)) opener.removeAttribute('aria-controls');
  }
  for (const button of document.querySelectorAll('button')) {
    const shown = button.textContent?.trim() ?? '';
    const label = button.ariaLabel ?? '';
    // The text inside a button that copies code is hidden, also from screen readers.
    if (label === '' && (shown === '' || button.matches('.scalar-code-copy')))
      button.ariaLabel = button.title || 'Copy';
    else if (button.matches('.show-more') && !label.includes(shown)) button.ariaLabel = `${shown}: ${label}`;
  }
}

let isDue = false;
const observer = new MutationObserver(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    mend();
  });
});
observer.observe(document.body, {
  childList: true,
  subtree: true,
  attributeFilter: ['aria-expanded', 'aria-controls'],
});
mend();
