import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { isToken } from './token.ts';

/** Kinds of sessions. Each has its own cookie, so one browser can have all three at once. */
export type SessionKind = 'merchant' | 'partner_user' | 'operator';

const names = { merchant: 'dashboard-session', partner_user: 'portal-session', operator: 'admin-session' } as const;

const isSecure = ({ baseUrl }: Pick<Config, 'baseUrl'>) => baseUrl.startsWith('https:');

/** Over https, the prefix `__Host-` makes browsers refuse a cookie that another host set, such as a partner's. */
export function cookieName(config: Pick<Config, 'baseUrl'>, name: string): string {
  return isSecure(config) ? `__Host-${name}` : name;
}

/** Sets a cookie for this host only. Scripts cannot read it, and forms of other sites do not send it. */
export function setOwnCookie(
  reply: FastifyReply,
  config: Pick<Config, 'baseUrl'>,
  name: string,
  value: string,
  maxAgeMs: number,
): void {
  const secure = isSecure(config) ? '; Secure' : '';
  const seconds = Math.floor(maxAgeMs / 1000);
  reply.header(
    'set-cookie',
    // Lax, because links in mails and on other sites lead to pages that need the session.
    `${cookieName(config, name)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}

/** Gives the browser a session's token. */
export function setSessionCookie(
  reply: FastifyReply,
  config: Config,
  kind: SessionKind,
  token: string,
  maxAgeMs: number,
): void {
  setOwnCookie(reply, config, names[kind], token, maxAgeMs);
}

/** Removes the session token of one kind from the browser; its other sessions remain. */
export function clearSessionCookie(reply: FastifyReply, config: Config, kind: SessionKind): void {
  setOwnCookie(reply, config, names[kind], '', 0);
}

/** The session token of one kind that a browser sent; null without one. */
export function sessionToken(request: FastifyRequest, config: Config, kind: SessionKind): string | null {
  const token = readCookie(request.headers.cookie, cookieName(config, names[kind]));
  return isToken(token) ? token : null;
}

/** All session tokens that a browser sent, as one text; empty without any. None of them need be valid. */
export function sentTokens(request: FastifyRequest, config: Config): string {
  const kinds = Object.keys(names) as SessionKind[];
  return kinds
    .map((kind) => sessionToken(request, config, kind))
    .filter((token) => token !== null)
    .join(' ');
}

/**
 * Whether a call shows user activity. A page's background requests do not, so a session still expires while its page is
 * left open.
 */
export function isUserActivity({ method, headers }: Pick<FastifyRequest, 'method' | 'headers'>): boolean {
  return method !== 'GET' || headers['sec-fetch-dest'] !== 'empty';
}

/**
 * A cookie's value; null if the browser sent no cookie of this name. Only spaces around a name are removed. `trim`
 * would also remove a no-break space. Another host of our domain could then set a cookie whose name begins with one:
 * browsers do not protect such a name like `__Host-`.
 */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(/; */)) {
    const [key, value] = part.split(/=(.*)/s);
    if (key === name) return value ?? null;
  }
  return null;
}
