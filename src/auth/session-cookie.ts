import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';

/** Over https the name itself makes browsers refuse a cookie that another host, such as a partner's, wants to set. */
const nameFor = (config: Config) => (isSecure(config) ? '__Host-session' : 'session');
const isSecure = ({ baseUrl }: Config) => baseUrl.startsWith('https:');

const tokenPattern = /^[A-Za-z0-9_-]{43}$/;

/** Gives the browser a session's token: for this host only, never to scripts. */
export function setSessionCookie(reply: FastifyReply, config: Config, token: string, maxAgeMs: number): void {
  const secure = isSecure(config) ? '; Secure' : '';
  const seconds = Math.floor(maxAgeMs / 1000);
  reply.header(
    'set-cookie',
    `${nameFor(config)}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`,
  );
}

/** Takes the token away from the browser. */
export function clearSessionCookie(reply: FastifyReply, config: Config): void {
  setSessionCookie(reply, config, '', 0);
}

/** The session token that a browser sent; null without one. */
export function sessionToken(request: FastifyRequest, config: Config): string | null {
  const token = readCookie(request.headers.cookie, nameFor(config));
  return token !== null && tokenPattern.test(token) ? token : null;
}

/** A cookie's value; null when the browser sent none of this name. */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.trim().split(/=(.*)/s);
    if (key === name) return value ?? null;
  }
  return null;
}
