import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { portalRealm } from '../users/realm.ts';
import { signInPages } from '../users/sign-in/pages.ts';

/** `/portal/sign-in`: people of a partner, on the shared host or on the partner's own. */
export function portalSignIn(app: FastifyInstance, ctx: Context): void {
  signInPages(app, ctx, portalRealm);
}
