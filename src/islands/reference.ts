/**
 * Mends what the API reference's library leaves out for people who work by keyboard or hear the page: code that scrolls
 * can be focused, every button has a name that holds the words it shows, and roles are those that an element can have.
 * The library renders while one reads on, so this looks again whenever something changed.
 */
function mend(): void {
  const scrolling = document.querySelectorAll<HTMLElement>(':is(code.custom-scroll, .endpoints):not([tabindex])');
  for (const area of scrolling) area.tabIndex = 0;
  for (const button of document.querySelectorAll('button[role="none"]')) button.removeAttribute('role');
  // It never says whether its list is open, which a combobox must.
  for (const input of document.querySelectorAll('[contenteditable][role="combobox"]')) input.role = 'textbox';
  for (const code of document.querySelectorAll('.cm-content:not([aria-label])')) code.ariaLabel = 'Code';
  for (const opener of document.querySelectorAll('[aria-controls]:not([aria-expanded="false"])')) {
    const controlled = opener.getAttribute('aria-controls') ?? '';
    if (!document.getElementById(controlled)) opener.removeAttribute('aria-controls');
  }
  for (const button of document.querySelectorAll('button')) {
    const shown = button.textContent?.trim() ?? '';
    const label = button.ariaLabel ?? '';
    // The words inside a button that copies code are hidden, also from those who hear the page.
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
