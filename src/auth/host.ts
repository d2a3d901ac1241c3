import { isIP } from 'node:net';
import type { Config } from '../config.ts';

/** The host of a call: `null` is the shared host, a slug is one partner's own host, `undefined` is an unknown host. */
export type HostOwner = string | null | undefined;

/** The partner whose own host something is on; `null` means the shared host. */
export type OwnHost = { partnerId: string; slug: string };

declare module 'fastify' {
  interface FastifyRequest {
    /** The partner on whose own host a page was requested; null on the shared host and for the API. */
    ownHost: OwnHost | null;
  }
}

/** Parses the Host header. The base host and bare IP addresses are shared; `<slug>.<base host>` is a partner's own. */
export function hostOwner(config: Config, header: string | undefined): HostOwner {
  const name = hostName(header);
  if (!name) return undefined;
  const bases = [new URL(config.baseUrl).hostname, ...(config.sandbox ? ['localhost'] : [])];
  if (isIP(name) || bases.includes(name)) return null;
  for (const base of bases) {
    const slug = name.endsWith(`.${base}`) ? name.slice(0, -base.length - 1) : '';
    if (slug && !slug.includes('.')) return slug;
  }
  return undefined;
}

/** The name in a Host header, in lower case and without a port; undefined if there is none. */
export function hostName(header: string | undefined): string | undefined {
  return URL.parse(`http://${header ?? ''}`)?.hostname.replace(/^\[|\]$/g, '');
}

/** The public address, without a trailing slash, of the shared host (null) or of a partner's own. */
export function hostAddress({ baseUrl }: Pick<Config, 'baseUrl'>, slug: string | null): string {
  if (slug === null) return baseUrl;
  const url = new URL(baseUrl);
  // An IP address has no subdomains, but only a sandbox is reached by one, which also answers at localhost.
  const base = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? 'localhost' : url.hostname;
  return `${url.protocol}//${slug}.${base}${url.port && `:${url.port}`}`;
}
