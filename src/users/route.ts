import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SignedIn, UserKind } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import { type Call, declarePages, type Pages } from '../web/pages.ts';
import { requireUser } from './current-user.ts';
import type { Realm } from './realm.ts';
import type { Fresh } from './step-up.ts';

type RealmVisit<K extends UserKind> = { person: SignedIn<K> };

/** A request for a page or form by a user who is signed in to a realm. */
export type RealmCall<K extends UserKind> = Call & RealmVisit<K>;

/** `fresh` only declares what an action requires: each of these actions checks the session itself. */
export type RealmPages<K extends UserKind> = Pages<RealmVisit<K>, object, { fresh: Fresh }>;

/** Declares pages and forms about one's own access, for every user who is signed in to the realm. */
export function declareRealmPages<K extends UserKind>(
  app: FastifyInstance,
  ctx: Context,
  realm: Realm<K>,
): RealmPages<K> {
  const open = async (request: FastifyRequest, reply: FastifyReply): Promise<RealmVisit<K> | null> => {
    const person = await requireUser(ctx, realm, request, reply);
    return person && { person };
  };
  return declarePages(app, ctx, { auth: 'session', open, openForm: open, redirectRule: () => null });
}
