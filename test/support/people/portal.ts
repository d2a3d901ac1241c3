import { randomBytes, randomUUID } from 'node:crypto';
import type { Role } from '../../../src/auth/roles.ts';
import { createUserSession } from '../../../src/auth/user-session.ts';
import type { Context } from '../../../src/context.ts';
import { startVisitor, type Visitor } from './visitor.ts';

/** A user of a partner, signed in to the portal without going through sign-in. */
export type PortalPerson = { userId: string; email: string; token: string };

export async function portalPerson(ctx: Context, partnerId: string, role: Role = 'owner'): Promise<PortalPerson> {
  const userId = randomUUID();
  const email = `${role}-${randomBytes(4).toString('hex')}@example.com`;
  await ctx.db.sql`
    insert into users (id, partner_id, email, role, created_at) values (${userId}, ${partnerId}, ${email}, ${role}, now())`;
  const client = { ip: '127.0.0.1', userAgent: 'test' };
  const token = await createUserSession(ctx, ctx.db.sql, { id: userId, partnerId }, client, null);
  return { userId, email, token };
}

/** The same user on the pages, without script. */
export async function portalVisitor(ctx: Context, url: string, partnerId: string, role?: Role): Promise<Visitor> {
  const visitor = startVisitor(url);
  visitor.cookies.set('portal-session', (await portalPerson(ctx, partnerId, role)).token);
  return visitor;
}
