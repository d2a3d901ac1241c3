import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/actions.ts';
import { clientOf } from '../auth/client.ts';
import { hostOwner } from '../auth/host.ts';
import { keepReturnPath } from '../auth/return-path.ts';
import { clearSessionCookie, isUserActivity, sessionToken } from '../auth/session-cookie.ts';
import {
  isUserStillIn,
  type Operator,
  type PartnerUser,
  readUserSession,
  type SignedIn,
  type UserKind,
} from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Reader } from '../web/export-slots.ts';
import { signInAddress } from '../web/sign-in-address.ts';
import type { Realm } from './realm.ts';

/** The user who is signed in to a realm with this browser; null if nobody is, or not on this host. */
export async function currentUser<K extends UserKind>(
  ctx: Context,
  { kind }: Realm<K>,
  request: FastifyRequest,
): Promise<SignedIn<K> | null> {
  const token = sessionToken(request, ctx.config, kind);
  if (token === null) return null;
  return readUserSession(ctx, kind, token, hostOwner(ctx.config, request.headers.host), isUserActivity(request));
}

/** The user who is signed in, like `signedIn`. A visitor who is not is redirected to the sign-in: null. */
export async function requireUser<K extends UserKind>(
  ctx: Context,
  realm: Realm<K>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<SignedIn<K> | null> {
  const person = await currentUser(ctx, realm, request);
  if (person) request.reader = readerOf(ctx, person);
  else {
    keepReturnPath(request, reply, ctx.config, realm.kind);
    reply.redirect(signInAddress(`${realm.path}/sign-in`, request), 303);
  }
  return person;
}

/** Whether the session of a long-running call is still valid, and its user still has the same permissions. */
export function isStillIn(ctx: Context, person: PartnerUser | Operator): Promise<boolean> {
  return isUserStillIn(ctx, person, roleOf(person));
}

const roleOf = (person: PartnerUser | Operator) => (person.kind === 'partner_user' ? person.role : null);

const readerOf = (ctx: Context, person: PartnerUser | Operator): Reader => ({
  id: person.userId,
  group: person.kind === 'partner_user' ? person.partner.id : 'operators',
  isStillIn: () => isStillIn(ctx, person),
});

/** A signed-in user as an actor for the audit log. */
export function userActor(person: PartnerUser | Operator, request: FastifyRequest): Actor {
  const { kind, userId, email } = person;
  return { kind, userId, email, role: roleOf(person), ...clientOf(request) };
}

/** Removes the session from this browser and redirects to the sign-in. */
export function leave(ctx: Context, realm: Realm, reply: FastifyReply): FastifyReply {
  clearSessionCookie(reply, ctx.config, realm.kind);
  return reply.redirect(`${realm.path}/sign-in`, 303);
}
