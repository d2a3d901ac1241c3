import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { noPartner, withAudit } from '../audit/write.ts';
import { countCall } from '../auth/calls-per-minute.ts';
import { recipientSubject, takeDailyQuota } from '../auth/daily-quota.ts';
import { hostAddress } from '../auth/host.ts';
import type { Role } from '../auth/roles.ts';
import { storeInvitation } from '../auth/sign-in-link.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { mailboxOf } from '../lib/text/email.ts';
import { queueMail } from '../mail/outbox.ts';
import { readMailBranding } from '../partners/branding.ts';
import { type Words, wordsKept } from '../ui/language.ts';
import { invitationMail } from './mails.ts';
import { adminRealm, portalRealm } from './realm.ts';
import { UserRefusal } from './refusal.ts';
import { emailFrom } from './rules.ts';
import { insertUser, lockTeam, selectUsers, type User } from './store.ts';
import { inTeam, maxTeam, partnerOf, type Team } from './team.ts';

const invitationsPerMinute = 10;
/**
 * How many invitations of a partner are sent to one mailbox a day. An owner may invite anybody, and most mailboxes have
 * any number of addresses, such as those with a plus sign.
 */
const invitationsOfMailbox = 20;

/** `role` is null for an operator. `host`: the slug whose own host the link opens on; null for the shared host. */
export type Invitation = { email: string; role: Role | null; place: string; host: string | null };

/**
 * Invites a user, by a mail with a link that signs in once. An existing member with the same role gets another link.
 *
 * @param words the inviter's language, for a mail to somebody who has never signed in
 * @returns the user, and the link, with which anybody can sign in as this user
 * @throws UserRefusal email_invalid, role_differs, user_disabled, team_full, too_many_invitations, invited_enough,
 *   invited_today
 */
export async function inviteUser(
  ctx: Context,
  actor: Actor,
  team: Team,
  invitation: Invitation,
  words: Words,
): Promise<{ user: User; link: string }> {
  const { role, place, host } = invitation;
  const email = emailFrom(invitation.email);
  if (email === null) throw new UserRefusal('email_invalid');
  const partnerId = partnerOf(team);
  const subject = partnerId ?? noPartner;
  const calls = await countCall(ctx.db.sql, { partnerId: subject, subject, action: 'user_invite' });
  if (calls > invitationsPerMinute) throw new UserRefusal('too_many_invitations');
  const invite = async (inner: Context) => {
    const user = await inTeam(inner, team, async (tx) => {
      await lockTeam(tx, partnerId);
      if (team !== 'operators' && !(await mayMail(ctx, tx, team, email))) throw new UserRefusal('invited_today');
      const users = await selectUsers(tx, partnerId, maxTeam);
      const known = users.find((one) => one.email === email);
      if (known) return known;
      // Lists show no more users, so nobody could remove further ones.
      if (users.length >= maxTeam) throw new UserRefusal('team_full');
      return insertUser(tx, { id: randomUUID(), partner_id: partnerId, email, role, created_at: ctx.clock.now() });
    });
    if (!user || user.role !== role) throw new UserRefusal('role_differs');
    if (user.disabled_at) throw new UserRefusal('user_disabled');
    const realmUrl = hostAddress(ctx.config, host) + (partnerId === null ? adminRealm : portalRealm).path;
    const stored = await storeInvitation(ctx, inner.db.sql, { id: user.id, email, partnerId });
    if (stored.token === null) throw new UserRefusal(stored.ofDay ? 'invited_today' : 'invited_enough');
    const link = `${realmUrl}/link/${stored.token}`;
    const branding = await readMailBranding(inner, partnerId);
    const theirs = wordsKept(user.language, words);
    await queueMail(
      ctx,
      inner.db.sql,
      partnerId,
      invitationMail(theirs, branding, email, { place, link, signIn: `${realmUrl}/sign-in` }),
    );
    return { user, link };
  };
  return withAudit(ctx, actor, invite, ({ user }) => ({
    action: 'user.invited',
    partnerId,
    testMode: null,
    object: { kind: 'user', id: user.id },
    details: { email, role },
  }));
}

function mayMail({ config }: Pick<Context, 'config'>, tx: Tx, team: Scope, email: string): Promise<boolean> {
  const subject = recipientSubject(config, team, mailboxOf(email));
  return takeDailyQuota(tx, team, 'user_invitation', { subject, max: invitationsOfMailbox });
}
