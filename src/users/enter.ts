import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import { hostOwner } from '../auth/host.ts';
import { clearSessionCookie, sessionToken, showsSomebody } from '../auth/session-cookie.ts';
import {
  type Operator,
  type PartnerUser,
  readUserSession,
  type SignedIn,
  type UserKind,
} from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../web/export-places.ts';
import type { Realm } from './realm.ts';

/** Who is signed in to a realm with this browser; null when nobody is, or not on this host. */
export async function signedIn<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  request: FastifyRequest,
): Promise<SignedIn<K> | null> {
  return readPerson(ctx, realm, request, showsSomebody(request));
}

async function readPerson<K extends UserKind>(
  ctx: Context,
  { kind }: Realm<K>,
  request: FastifyRequest,
  inUse: boolean,
): Promise<SignedIn<K> | null> {
  const token = sessionToken(request, ctx.config, kind);
  return token === null ? null : readUserSession(ctx, kind, token, hostOwner(ctx.config, request.headers.host), inUse);
}

/**
 * True while the session of a long-running call is valid, and its user still has the permissions they had when it
 * began.
 */
export async function isStillIn(
  ctx: Context,
  realm: Realm,
  request: FastifyRequest,
  began: PartnerUser | Operator,
): Promise<boolean> {
  const person = await readPerson(ctx, realm, request, false);
  return person !== null && person.sessionId === began.sessionId && roleOf(person) === roleOf(began);
}

const roleOf = (person: PartnerUser | Operator) => (person.kind === 'partner_user' ? person.role : null);

/** The same; who is not signed in is sent to where one signs in, and null returned. */
export async function enter<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn<K> | null> {
  const person = await signedIn(ctx, realm, request);
  if (person) request.reader = readerOf(person);
  else reply.redirect(`${realm.path}/sign-in`, 303);
  return person;
}

const readerOf = (person: PartnerUser | Operator): Reader => ({
  id: person.userId,
  group: person.kind === 'partner_user' ? person.partner.id : 'operators',
});

/** What the audit log says of somebody who is signed in. */
export function userActor(person: PartnerUser | Operator, request: FastifyRequest): Actor {
  const { kind, userId, email } = person;
  return { kind, userId, email, ip: request.ip, userAgent: request.headers['user-agent'] };
}

/** Takes the session away from this browser and shows where one signs in. */
export function leave(ctx: Context, realm: Realm, reply: FastifyReply): FastifyReply {
  clearSessionCookie(reply, ctx.config, realm.kind);
  return reply.redirect(`${realm.path}/sign-in`, 303);
}
