/** A form that is pressed twice is sent once. One whose answer does not come can be sent again after a while. */
const againMs = 5_000;
const sentAt = new WeakMap<EventTarget, number>();

addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  if (form.method !== 'post' || event.defaultPrevented) return;
  const before = sentAt.get(form);
  if (before !== undefined && event.timeStamp - before < againMs) event.preventDefault();
  else sentAt.set(form, event.timeStamp);
});
// Whoever comes back to a page that was kept as it was means it anew.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  for (const form of document.forms) sentAt.delete(form);
});
