import type { IncomingHttpHeaders } from 'node:http';

/**
 * True when a form was sent from a page of this site. Browsers say so in `Sec-Fetch-Site`; older ones, and all of them
 * over plain http, only in `Origin`. `Origin` is `null` for a page that hides its origin, such as a sandboxed frame.
 *
 * @param siteUrl the public address of the page
 */
export function isOwnForm(headers: IncomingHttpHeaders, siteUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true; // no browser: they name the origin of every form
  return origin === new URL(siteUrl).origin || URL.parse(origin)?.host === headers.host;
}
