/** The page's address as it was opened. A region that refreshes asks for it, so that the notice of `?done=` stays. */
export const openedAddress = location.href;

/** A reload, a bookmark or a copied link must not say again that something was done, so the address forgets it. */
const address = new URL(openedAddress);
if (address.searchParams.has('done')) {
  for (const name of ['done', 'count']) address.searchParams.delete(name);
  history.replaceState(history.state, '', address);
}
