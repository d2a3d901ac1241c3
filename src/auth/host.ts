import { isIP } from 'node:net';
import type { Config } from '../config.ts';

/** Whose host a call came to: `null` is the shared host, a slug one partner's own, `undefined` nobody's. */
export type HostOwner = string | null | undefined;

/** A partner on whose own host something is; `null` in its place is the shared host. */
export type OwnHost = { partnerId: string; slug: string };

declare module 'fastify' {
  interface FastifyRequest {
    /** The partner whose own host a page was called on; null on the shared host, and for the API. */
    ownHost: OwnHost | null;
  }
}

/** Reads the Host header: the base host and bare addresses are shared, `<slug>.<base host>` is a partner's own. */
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

/** The name in a Host header, in lower case and without a port; undefined when there is none. */
export function hostName(header: string | undefined): string | undefined {
  return URL.parse(`http://${header ?? ''}`)?.hostname.replace(/^\[|\]$/g, '');
}

/** Public address, without a slash at the end, of the shared host (null) or of a partner's own. */
export function hostAddress({ baseUrl }: Pick<Config, 'baseUrl'>, slug: string | null): string {
  if (slug === null) return baseUrl;
  const url = new URL(baseUrl);
  // An address without a name has no hosts below it: only the sandbox is reached by one.
  const base = isIP(url.hostname.replace(/^\[|\]$/g, '')) ? 'localhost' : url.hostname;
  return `${url.protocol}//${slug}.${base}${url.port && `:${url.port}`}`;
}
