import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.ts';
import { clientSubject } from '../lib/concurrency/attempts.ts';
import { dayMs } from '../lib/durations.ts';
import { keyedHash, type SecretKey } from '../lib/encrypt.ts';
import { makeExpiringToken, readExpiringToken } from './expiring-token.ts';
import { merchantSession } from './merchant-session.ts';
import { cookieName, readCookie, type SessionKind, setOwnCookie, setSessionCookie } from './session-cookie.ts';

/** How long a browser counts as known after a sign-in. */
const knownMs = 180 * dayMs;
const names = { merchant: 'dashboard-browser', partner_user: 'portal-browser', operator: 'admin-browser' } as const;

type BrowserContext = Pick<Context, 'config' | 'clock'>;
/** Who has signed in: the e-mail address of a user, or the wallet of a merchant, as it is stored. */
type Person = { kind: SessionKind; name: string };

const macOf =
  ({ kind, name }: Person) =>
  (secret: SecretKey, head: string) =>
    keyedHash(secret, 'sign-in', JSON.stringify(['known', kind, name, head]));

/**
 * Lets a browser prove later that this person has signed in with it. The cookie grants no access: it only lets its
 * holder sign in, or request links, when strangers have tried too often. Nothing is stored.
 */
export function rememberBrowser({ config, clock }: BrowserContext, reply: FastifyReply, person: Person): void {
  const proof = makeExpiringToken(config.secretKeys, clock.now().getTime() + knownMs, macOf(person));
  setOwnCookie(reply, config, names[person.kind], proof.toString('base64url'), knownMs);
}

/** The proof that a browser is known; null when this person has not signed in with it, or too long ago. */
export function knownBrowser(
  { config, clock }: BrowserContext,
  request: FastifyRequest,
  person: Person,
): string | null {
  const text = readCookie(request.headers.cookie, cookieName(config, names[person.kind])) ?? '';
  const proof = readExpiringToken(config.secretKeys, Buffer.from(text, 'base64url'), macOf(person));
  return proof && proof.until > clock.now() ? proof.head : null;
}

/**
 * By what forms of a sign-in are counted: the browser if this person has signed in with it before, since many strangers
 * can share its address, and otherwise the client's address.
 *
 * @param person null if the form names nobody
 */
export const signInSender = (ctx: BrowserContext, request: FastifyRequest, person: Person | null): string =>
  (person && knownBrowser(ctx, request, person)) ?? clientSubject(request.ip);

/** Gives a browser the session of a merchant that has signed by its wallet, and remembers it. */
export function letMerchantIn(
  ctx: BrowserContext,
  reply: FastifyReply,
  { token, walletAddress }: { token: string; walletAddress: string },
): void {
  setSessionCookie(reply, ctx.config, 'merchant', token, merchantSession.absoluteMs);
  rememberBrowser(ctx, reply, { kind: 'merchant', name: walletAddress });
}
