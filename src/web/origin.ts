import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a form was sent from a page of this site. Browsers say so in `Sec-Fetch-Site`. Older browsers, and all over
 * plain http, send only `Origin`, which is `null` for a page that hides its origin, such as a sandboxed frame.
 *
 * @param siteUrl the public address of the page
 */
export function isOwnForm(headers: IncomingHttpHeaders, siteUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true; // not a browser: browsers send the origin of every form
  return origin === new URL(siteUrl).origin || URL.parse(origin)?.host === headers.host;
}

/**
 * Whether a page of this site led to a page. Browsers that do not say so are believed: older ones, and all over plain
 * http.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'same-site';
}
