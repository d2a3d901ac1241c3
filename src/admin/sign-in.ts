import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { adminRealm } from '../users/realm.ts';
import { signInPages } from '../users/sign-in/pages.ts';

/** `/admin/sign-in`: those who run the service, on the shared host only. */
export function adminSignIn(app: FastifyInstance, ctx: Context): void {
  signInPages(app, ctx, adminRealm);
}
