import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { dayMs } from '../lib/durations.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { cookieName, readCookie, setOwnCookie } from './session-cookie.ts';
import type { UserKind } from './user-session.ts';

/** How long a browser counts as known after a sign-in. */
const knownMs = 180 * dayMs;
const saltBytes = 16;
const timeBytes = 6;
const macBytes = 32;
const names = { partner_user: 'portal-browser', operator: 'admin-browser' } as const;

type BrowserContext = Pick<Context, 'config' | 'clock'>;
/** Who has signed in: `email` as it is stored. */
type Person = { kind: UserKind; email: string };

const macOf = (secret: SecretKey, { kind, email }: Person, head: Buffer) =>
  keyedHash(secret, 'sign-in', JSON.stringify(['known', kind, email, head.toString('hex')]));

/**
 * Lets a browser prove later that this user has signed in with it. The cookie grants no access: it only lets its holder
 * request links when strangers have requested too many. Nothing is stored.
 */
export function rememberBrowser({ config, clock }: BrowserContext, reply: FastifyReply, person: Person): void {
  const head = Buffer.alloc(saltBytes + timeBytes);
  randomBytes(saltBytes).copy(head);
  head.writeUIntBE(clock.now().getTime() + knownMs, saltBytes, timeBytes);
  const proof = Buffer.concat([head, macOf(newest(config.secretKeys), person, head)]);
  setOwnCookie(reply, config, names[person.kind], proof.toString('base64url'), knownMs);
}

/** The proof that a browser is known; null when this user has not signed in with it, or too long ago. */
export function knownBrowser(
  { config, clock }: BrowserContext,
  request: FastifyRequest,
  person: Person,
): string | null {
  const text = readCookie(request.headers.cookie, cookieName(config, names[person.kind])) ?? '';
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== saltBytes + timeBytes + macBytes) return null;
  const [head, mac] = [bytes.subarray(0, saltBytes + timeBytes), bytes.subarray(saltBytes + timeBytes)];
  if (!config.secretKeys.some((secret) => timingSafeEqual(macOf(secret, person, head), mac))) return null;
  return head.readUIntBE(saltBytes, timeBytes) > clock.now().getTime() ? head.toString('hex') : null;
}
