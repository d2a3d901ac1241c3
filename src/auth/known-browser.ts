import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { dayMs } from '../lib/durations.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { merchantSession } from './merchant-session.ts';
import { cookieName, readCookie, type SessionKind, setOwnCookie, setSessionCookie } from './session-cookie.ts';

/** How long a browser counts as known after a sign-in. */
const knownMs = 180 * dayMs;
const saltBytes = 16;
const timeBytes = 6;
const macBytes = 32;
const names = { merchant: 'dashboard-browser', partner_user: 'portal-browser', operator: 'admin-browser' } as const;

type BrowserContext = Pick<Context, 'config' | 'clock'>;
/** Who has signed in: the e-mail address of a user, or the wallet of a merchant, as it is stored. */
type Person = { kind: SessionKind; name: string };

const macOf = (secret: SecretKey, { kind, name }: Person, head: Buffer) =>
  keyedHash(secret, 'sign-in', JSON.stringify(['known', kind, name, head.toString('hex')]));

/**
 * Lets a browser prove later that this person has signed in with it. The cookie grants no access: it only lets its
 * holder sign in, or request links, when strangers have tried too often. Nothing is stored.
 */
export function rememberBrowser({ config, clock }: BrowserContext, reply: FastifyReply, person: Person): void {
  const head = Buffer.alloc(saltBytes + timeBytes);
  randomBytes(saltBytes).copy(head);
  head.writeUIntBE(clock.now().getTime() + knownMs, saltBytes, timeBytes);
  const proof = Buffer.concat([head, macOf(newest(config.secretKeys), person, head)]);
  setOwnCookie(reply, config, names[person.kind], proof.toString('base64url'), knownMs);
}

/** The proof that a browser is known; null when this person has not signed in with it, or too long ago. */
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

/** Gives a browser the session of a merchant that has signed by its wallet, and remembers it. */
export function letMerchantIn(
  ctx: BrowserContext,
  reply: FastifyReply,
  { token, walletAddress }: { token: string; walletAddress: string },
): void {
  setSessionCookie(reply, ctx.config, 'merchant', token, merchantSession.absoluteMs);
  rememberBrowser(ctx, reply, { kind: 'merchant', name: walletAddress });
}
