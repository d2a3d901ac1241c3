import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { cookieName, readCookie, setOwnCookie } from './session-cookie.ts';
import { linkMs } from './sign-in-link.ts';
import { isToken, newToken } from './token.ts';

const name = 'sign-in';

/** The token that a browser got when it requested a link; null if it has none. */
export function browserToken(request: FastifyRequest, config: Config): string | null {
  const token = readCookie(request.headers.cookie, cookieName(config, name));
  return isToken(token) ? token : null;
}

/**
 * Gives a browser that requests a link a token, for this host only. The link works only in a browser with the token. An
 * existing token is kept, so that earlier links still work.
 */
export function bindBrowser(request: FastifyRequest, reply: FastifyReply, config: Config): string {
  const token = browserToken(request, config) ?? newToken();
  setOwnCookie(reply, config, name, token, linkMs);
  return token;
}
