/** Adds the page's mode, test or live, to the address, so that a copied link shows the same mode. */
const current = document.querySelector<HTMLAnchorElement>('.switch [aria-current]');
const mode = current && new URL(current.href).searchParams.get('mode');
const address = new URL(location.href);
if (mode && address.pathname.startsWith('/portal/') && !address.searchParams.has('mode')) {
  address.searchParams.set('mode', mode);
  history.replaceState(history.state, '', address);
}
