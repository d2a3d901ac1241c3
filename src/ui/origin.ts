import type { IncomingHttpHeaders } from 'node:http';

/**
 * True when a form was sent from a page of this site. Browsers say it in `Sec-Fetch-Site`; older ones only in `Origin`,
 * which is `null` for pages under `no-referrer`, as ours are.
 *
 * @param siteUrl the public address of the page
 */
export function isOwnForm(headers: IncomingHttpHeaders, siteUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined || origin === 'null') return true;
  return origin === new URL(siteUrl).origin || URL.parse(origin)?.host === headers.host;
}
