import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCookie } from '../auth/session-cookie.ts';
import { type Mode, modes } from '../lib/mode.ts';

const modeCookie = 'mode';
const modeCookieSeconds = 365 * 24 * 3600;
const modeFrom = (text: unknown): Mode | undefined => modes.find((mode) => mode === text);

/**
 * The mode whose data is shown: test until live is chosen (`?mode=live`), then from a cookie. It grants no permission.
 */
export function chosenMode(request: FastifyRequest, reply: FastifyReply): Mode {
  const chosen = modeFrom((request.query as { mode?: unknown }).mode);
  if (chosen)
    reply.header('set-cookie', `${modeCookie}=${chosen}; Path=/portal; Max-Age=${modeCookieSeconds}; SameSite=Lax`);
  return chosen ?? modeFrom(readCookie(request.headers.cookie, modeCookie)) ?? 'test';
}
