import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { dayMs } from '../lib/durations.ts';
import { cookieName, readCookie, type SessionKind, setOwnCookie } from './session-cookie.ts';

const names = { merchant: 'dashboard-return', partner_user: 'portal-return', operator: 'admin-return' } as const;
const areas = { merchant: '/dashboard', partner_user: '/portal', operator: '/admin' } as const;

/** Long enough for a page whose session ended over night. */
const keptMs = dayMs;
const maxLength = 1000;

/** The parameter that a page shows once, after an act: whoever returns later has not just acted. */
const saidOnce = 'done';

/**
 * Keeps the page that a visitor without a session wanted to open, or whose form was sent, so that the sign-in can lead
 * there. Files and streams are not kept.
 */
export function keepReturnPath(request: FastifyRequest, reply: FastifyReply, config: Config, kind: SessionKind): void {
  const dest = request.headers['sec-fetch-dest'] ?? 'document';
  if (dest !== 'document') return;
  const path = checked(request.method === 'POST' ? pageOf(request) : request.url, kind);
  if (path !== null) setOwnCookie(reply, config, names[kind], Buffer.from(path).toString('base64url'), keptMs);
}

/** The page that a form was sent from, on whatever host: only its path counts. Empty if the browser does not say. */
function pageOf({ headers: { referer = '' } }: FastifyRequest): string {
  const page = URL.parse(referer);
  return page ? page.pathname + page.search : '';
}

/** Where a sign-in leads: the page that was kept, once; otherwise the first page of the area. */
export function takeReturnPath(
  request: FastifyRequest,
  reply: FastifyReply,
  config: Config,
  kind: SessionKind,
): string {
  const kept = readCookie(request.headers.cookie, cookieName(config, names[kind]));
  if (kept === null) return areas[kind];
  setOwnCookie(reply, config, names[kind], '', 0);
  return checked(Buffer.from(kept, 'base64url').toString(), kind) ?? areas[kind];
}

/**
 * A path with its query, in the form in which the browser would open it; null unless it is a page of the area. Nothing
 * else is ever a redirect's target, whoever set the cookie.
 */
function checked(path: string, kind: SessionKind): string | null {
  const origin = 'http://localhost';
  const url = path.length <= maxLength ? URL.parse(path, origin) : null;
  if (url?.origin !== origin || !url.pathname.startsWith(`${areas[kind]}/`) || url.pathname.endsWith('.csv'))
    return null;
  url.searchParams.delete(saidOnce);
  return url.pathname + url.search;
}
