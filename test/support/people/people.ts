import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Role } from '../../../src/auth/roles.ts';
import type { Context } from '../../../src/context.ts';
import type { Partner } from '../../../src/partners/store.ts';
import { wordsOf } from '../../../src/ui/language.ts';
import { inviteUser } from '../../../src/users/invite.ts';
import type { makePartner } from '../fixtures.ts';
import type { Visit } from './forms.ts';
import { startVisitor, type Visitor } from './visitor.ts';

/** An address that is unique in the test run. */
export const newEmail = () => `ada-${randomBytes(5).toString('hex')}@example.com`;

type Fixtures = Awaited<ReturnType<typeof makePartner>>;

/** Resets the limit of invitations, because tests invite more users per minute than a partner may. */
const forgetCount = ({ db }: Context) => db.sql`delete from rate_counters where action = 'user_invite'`;

/** A user of a partner, invited by the command line. The link is still unused. */
export async function invitePartnerUser(
  ctx: Context,
  { partner, test }: Fixtures,
  role: Role = 'owner',
  email = newEmail(),
) {
  await forgetCount(ctx);
  const invitation = { email, role, place: partner.name, host: null };
  return inviteUser(ctx, { kind: 'command_line' }, test, invitation, wordsOf('en'));
}

/** An operator, invited by the command line. */
export async function inviteOperator(ctx: Context, email = newEmail()) {
  await forgetCount(ctx);
  const invitation = { email, role: null, place: 'Quittance', host: null };
  return inviteUser(ctx, { kind: 'command_line' }, 'operators', invitation, wordsOf('en'));
}

/** Headers of a browser on a partner's own host, or on the given host. */
export const onHost = (partner: Pick<Partner, 'slug'>) => ({ host: `${partner.slug}.localhost:3000` });

/** Opens an invitation and presses its button. */
export async function acceptInvitation(visitor: Visitor, link: string): Promise<Visit> {
  const page = await visitor.open(link);
  assert.equal(page.status, 200, page.html.replace(/<style>.*<\/style>/s, ''));
  return visitor.send(page, new URL(link).pathname);
}

/** A browser in which a user of a partner is signed in, and the portal it sees. */
export async function signInPartnerUser(
  app: { ctx: Context; url: string },
  fixtures: Fixtures,
  role: Role = 'owner',
  headers: Record<string, string> = {},
) {
  const { user, link } = await invitePartnerUser(app.ctx, fixtures, role);
  const visitor = startVisitor(app.url, headers);
  const portal = await acceptInvitation(visitor, link);
  return { user, visitor, portal };
}

/** A browser in which an operator is signed in, and the administration it sees. */
export async function signInOperator(app: { ctx: Context; url: string }, headers: Record<string, string> = {}) {
  const { user, link } = await inviteOperator(app.ctx);
  const visitor = startVisitor(app.url, headers);
  const admin = await acceptInvitation(visitor, link);
  return { user, visitor, admin };
}

/** True for a page that only signed-in people see. */
export const isInside = (page: Visit) => page.status === 200 && /action="\/(?:portal|admin)\/sign-out"/.test(page.html);
