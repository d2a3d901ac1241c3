import type { FastifyReply } from 'fastify';
import type { Config } from '../config.ts';
import { docsPath } from '../web/docs-path.ts';
import { fixedHeaders } from './api-headers.ts';
import { hasPathPrefix } from './path-prefix.ts';

/** Browser features that no page of ours uses are off, so that injected code could not use them either. */
const permissions = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'hid', 'midi']
  .map((name) => `${name}=()`)
  .join(', ');

const yearSeconds = 365 * 24 * 3600;
/** Pages behind a sign-in. Pay pages and onboarding must stay accessible to the shop's page that opened them. */
const closed = ['/portal', '/admin', '/dashboard', '/dev'];

/**
 * The API reference comes from a library that writes inline styles. It shares its origin with the portal, so it may
 * call only the API there. It may open no windows, because it could then act in a window with another page of this
 * origin.
 */
const referencePolicy = (baseUrl: string) =>
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  `connect-src ${new URL(baseUrl).origin}/api/; img-src 'self' data: blob:; font-src 'self' data:; ` +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-same-origin allow-downloads";

type Hosts = Pick<Config, 'baseUrl' | 'payUrl' | 'hsts'>;

/**
 * Returns a function that sets the default headers of every response: no caching, no content sniffing, no use by other
 * sites. Its `path` is the requested path without the query.
 */
export function answerHeaders(config: Hosts): (reply: FastifyReply, path: string) => void {
  const transportFor = strictTransport(config);
  const reference = referencePolicy(config.baseUrl);
  return (reply, path) => {
    reply.headers(fixedHeaders);
    const transport = transportFor(reply.request.headers.host);
    if (transport) reply.header('strict-transport-security', transport);
    if (path.startsWith('/api/')) return;
    reply.headers(pageHeaders);
    if (hasPathPrefix(path, [docsPath])) reply.header('content-security-policy', reference);
    if (hasPathPrefix(path, closed)) reply.header('cross-origin-opener-policy', 'same-origin');
  };
}

const pageHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': permissions,
  // Not `no-referrer`: with it, browsers send `Origin: null` with forms.
  'referrer-policy': 'same-origin',
};

/** The header's value for a host; null for none. The base host's covers its subdomains: the partners' own hosts. */
function strictTransport({ baseUrl, payUrl, hsts }: Hosts): (host: string | undefined) => string | null {
  const [base, pay] = [new URL(baseUrl), new URL(payUrl)];
  return (host) => {
    const isSecure = base.protocol === 'https:' || (pay.protocol === 'https:' && host === pay.host);
    if (!hsts || !isSecure) return null;
    return `max-age=${yearSeconds}${host === base.host ? '; includeSubDomains' : ''}`;
  };
}
