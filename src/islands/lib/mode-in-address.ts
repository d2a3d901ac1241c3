/** The address names the mode that the page shows, test or live: whoever is sent a copy of it sees the same. */
const current = document.querySelector<HTMLAnchorElement>('.switch [aria-current]');
const mode = current && new URL(current.href).searchParams.get('mode');
const address = new URL(location.href);
if (mode && address.pathname.startsWith('/portal/') && !address.searchParams.has('mode')) {
  address.searchParams.set('mode', mode);
  history.replaceState(history.state, '', address);
}
