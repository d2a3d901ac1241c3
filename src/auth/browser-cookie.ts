import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { cookieName, readCookie, setOwnCookie } from './session-cookie.ts';
import { isLinkToken, linkMs, newLinkToken } from './sign-in-link.ts';

const name = 'sign-in';

/** What a browser holds from when it asked for a link; null when it holds nothing. */
export function browserToken(request: FastifyRequest, config: Config): string | null {
  const token = readCookie(request.headers.cookie, cookieName(config, name));
  return isLinkToken(token) ? token : null;
}

/**
 * Gives the browser that asks for a link a token, for this host only: the link opens where it comes back. One that it
 * holds already stays, so that an earlier link goes on opening.
 */
export function bindBrowser(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const token = browserToken(request, config) ?? newLinkToken();
  setOwnCookie(reply, config, name, token, linkMs);
  return token;
}
