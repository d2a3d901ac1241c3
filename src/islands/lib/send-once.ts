/** A form that is pressed twice is sent once. If there is no response, it can be sent again after this time. */
const retryMs = 5_000;
const sentAt = new WeakMap<EventTarget, number>();

addEventListener('submit', (event) => {
  const form = event.target as HTMLFormElement;
  if (form.method !== 'post' || event.defaultPrevented) return;
  const before = sentAt.get(form);
  if (before !== undefined && event.timeStamp - before < retryMs) event.preventDefault();
  else sentAt.set(form, event.timeStamp);
});
// A page that the browser restores from its back/forward cache may be sent again.
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  for (const form of document.forms) sentAt.delete(form);
});
