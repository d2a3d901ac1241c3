/** Escape folds the confirmation that has the focus, as it closes a dialog, and returns to the button that asked. */
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing) return;
  const confirmation = (event.target as Element).closest<HTMLDetailsElement>('details.confirm[open]');
  if (!confirmation) return;
  confirmation.open = false;
  confirmation.querySelector('summary')?.focus();
});
