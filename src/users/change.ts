import type { Actor, AuditEntry } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Role } from '../auth/roles.ts';
import { revokeSessionsOf } from '../auth/user-session.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { AccessChanged } from '../errors.ts';
import { UserRefusal } from './refusal.ts';
import { isLastOwner } from './rules.ts';
import { lockUsers, type User, updateUser } from './store.ts';
import { inTeam, maxTeam, partnerOf, type Team } from './team.ts';

/**
 * Changes the role of a partner's user, effective at the next call of each of its sessions.
 *
 * @throws UserRefusal user_unknown; last_owner if no other owner could sign in
 * @throws AccessChanged if the acting user was removed, or given another role, since the act began
 */
export function changeRole(
  ctx: Context,
  actor: Actor,
  team: Scope,
  { userId, role }: { userId: string; role: Role },
): Promise<User> {
  return change(ctx, actor, team, userId, {
    to: { role },
    takesAway: role !== 'owner',
    entryOf: (before, after) =>
      before.role === after.role
        ? null
        : {
            ...about(team, after),
            action: 'user.role_changed',
            details: { email: after.email, from: before.role, to: role },
          },
  });
}

/**
 * Disables a user immediately in every browser, or enables one again. The earlier sessions of a user who is enabled
 * again stay ended.
 *
 * @throws UserRefusal user_unknown; last_owner
 * @throws AccessChanged
 */
export function setUserDisabled(
  ctx: Context,
  actor: Actor,
  team: Team,
  { userId, disabled }: { userId: string; disabled: boolean },
): Promise<User> {
  return change(ctx, actor, team, userId, {
    to: { disabled_at: disabled ? ctx.clock.now() : null },
    takesAway: disabled,
    entryOf: (before, after) =>
      (before.disabled_at !== null) === disabled
        ? null
        : {
            ...about(team, after),
            action: disabled ? 'user.disabled' : 'user.enabled',
            details: { email: after.email },
          },
  });
}

const about = (team: Team, { id }: User) => ({
  partnerId: partnerOf(team),
  testMode: null,
  object: { kind: 'user' as const, id },
});

type UserChange = {
  to: Partial<Pick<User, 'role' | 'disabled_at'>>;
  /** Whether the user has fewer permissions afterwards. */
  takesAway: boolean;
  /** The entry of the audit log; null if nothing changed. */
  entryOf(before: User, after: User): AuditEntry | null;
};

async function change(
  ctx: Context,
  actor: Actor,
  team: Team,
  userId: string,
  { to, takesAway, entryOf }: UserChange,
): Promise<User> {
  const partnerId = partnerOf(team);
  const work = async (inner: Context) => {
    const done = await inTeam(inner, team, async (tx) => {
      const users = await lockUsers(tx, partnerId, maxTeam);
      const before = users.find(({ id }) => id === userId);
      if (isNoLonger(users, actor)) throw new AccessChanged();
      if (!before) throw new UserRefusal('user_unknown');
      if (takesAway && isLastOwner(users, userId)) throw new UserRefusal('last_owner');
      return { before, after: await updateUser(tx, partnerId, userId, to) };
    });
    if (done.after.disabled_at) await revokeSessionsOf(ctx, inner.db.sql, userId);
    return done;
  };
  const { after } = await withAudit(ctx, actor, work, (done) => entryOf(done.before, done.after));
  return after;
}

/**
 * Whether the acting user of the team was removed, or given another role, since the act began. So if two owners remove
 * or demote each other at once, only the first succeeds.
 */
function isNoLonger(users: User[], actor: Actor): boolean {
  if (!('role' in actor)) return false;
  const self = users.find(({ id }) => id === actor.userId);
  return self !== undefined && (self.disabled_at !== null || self.role !== actor.role);
}
