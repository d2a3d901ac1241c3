import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Scope, Sql, Tx } from '../db/connection.ts';
import { list } from '../db/sql.ts';
import { dayMs, hourMs, minuteMs } from '../lib/durations.ts';
import { keyedHash, newest } from '../lib/encrypt.ts';
import type { Mode } from '../lib/mode.ts';
import { keptUserAgent } from '../lib/text/user-agent.ts';
import type { Client } from './client.ts';
import type { HostOwner } from './host.ts';
import { type SessionView, tokenHashes } from './merchant-session.ts';
import type { Role } from './roles.ts';
import { scopeOf } from './scope.ts';
import { newToken } from './token.ts';

/** A session ends after this idle time, and at the latest this long after sign-in. */
export const userSessionLimits = {
  partner_user: { idleMs: 12 * hourMs, absoluteMs: 7 * dayMs },
  operator: { idleMs: hourMs / 2, absoluteMs: 8 * hourMs },
} as const;

/** Users who sign in by e-mail: those of a partner, and operators. */
export type UserKind = keyof typeof userSessionLimits;

/** The last use of a session is written at most this often. */
const seenEveryMs = minuteMs;
/** How long ended sessions are kept for review. */
const keptMs = 30 * dayMs;
const maxListed = 100;
/** How long after a sign-in or a use of a passkey a user may change how they sign in. */
const freshMs = 10 * minuteMs;

export type SessionPartner = { id: string; slug: string; name: string; disabled: boolean };

/** A signed-in user of a partner. If the partner is disabled, its users can still read. */
export type PartnerUser = {
  kind: 'partner_user';
  sessionId: string;
  userId: string;
  email: string;
  role: Role;
  partner: SessionPartner;
};
/** An operator who is signed in. */
export type Operator = { kind: 'operator'; sessionId: string; userId: string; email: string };
export type SignedIn<K extends UserKind> = { partner_user: PartnerUser; operator: Operator }[K];

type SessionContext = Pick<Context, 'config' | 'db' | 'clock'>;

/**
 * Signs a user in with a new token. The browser's previous session ends.
 *
 * @param user `partnerId` is null for an operator
 * @param earlier the token that the browser still has; null if it has none
 * @returns the token for the cookie; only its hash is stored
 */
export async function createUserSession(
  ctx: Pick<Context, 'config' | 'clock'>,
  tx: Tx | Sql,
  user: { id: string; partnerId: string | null },
  client: Client,
  earlier: string | null,
): Promise<string> {
  const kind: UserKind = user.partnerId === null ? 'operator' : 'partner_user';
  const token = newToken();
  const now = ctx.clock.now();
  const { secretKeys } = ctx.config;
  await tx`
    with replaced as (
      update sessions set revoked_at = ${now} where token_hash in ${list(tokenHashes(secretKeys, earlier ?? ''))}
        and revoked_at is null
    ), forgotten as (
      delete from sessions where user_id = ${user.id} and last_seen_at < ${new Date(now.getTime() - keptMs)})
    insert into sessions (id, token_hash, kind, partner_id, user_id, created_at, last_seen_at, expires_at, ip, user_agent)
    values (${randomUUID()}, ${keyedHash(newest(secretKeys), 'session', token)}, ${kind}, ${user.partnerId}, ${user.id},
      ${now}, ${now}, ${new Date(now.getTime() + userSessionLimits[kind].absoluteMs)}, ${client.ip},
      ${keptUserAgent(client.userAgent)})`;
  return token;
}

/** The condition for a valid session of a user: the user must not be disabled. */
function alive({ db: { sql } }: SessionContext, kind: UserKind, now: Date) {
  return sql`
    s.kind = ${kind} and s.revoked_at is null and s.expires_at > ${now}
    and s.last_seen_at > ${new Date(now.getTime() - userSessionLimits[kind].idleMs)}
    and exists (select from users u where u.id = s.user_id and u.disabled_at is null)`;
}

type SessionRow = {
  id: string;
  user_id: string;
  email: string;
  role: Role;
  partner_id: string;
  slug: string;
  name: string;
  disabled: boolean;
};

/**
 * The session of a token, in one statement. A partner's user can use it on the shared host and on the partner's own, an
 * operator on the shared host only. On any other host the token is not valid.
 *
 * @param inUse whether the call counts as activity, which extends the session
 */
export async function readUserSession<K extends UserKind>(
  ctx: SessionContext,
  kind: K,
  token: string,
  host: HostOwner,
  inUse: boolean,
): Promise<SignedIn<K> | null> {
  if (host === undefined || (kind === 'operator' && host !== null)) return null;
  const now = ctx.clock.now();
  const { sql } = ctx.db;
  const [row] = await sql<SessionRow[]>`
    with found as (
      select s.id, s.last_seen_at, s.user_id, u.email, u.role, p.id as partner_id, p.slug, p.name,
        p.disabled_at is not null as disabled
      from sessions s join users u on u.id = s.user_id left join partners p on p.id = u.partner_id
      where s.token_hash in ${list(tokenHashes(ctx.config.secretKeys, token))} and ${alive(ctx, kind, now)}
        and (${host}::text is null or p.slug = ${host})
    ), seen as (
      update sessions s set last_seen_at = ${now} from found
      where ${inUse} and s.id = found.id and found.last_seen_at < ${new Date(now.getTime() - seenEveryMs)})
    select * from found`;
  if (!row) return null;
  const { id: sessionId, user_id: userId, email, role, partner_id: id, slug, name, disabled } = row;
  const signedIn: PartnerUser | Operator =
    kind === 'operator'
      ? { kind: 'operator', sessionId, userId, email }
      : { kind: 'partner_user', sessionId, userId, email, role, partner: { id, slug, name, disabled } };
  return signedIn as SignedIn<K>;
}

/**
 * Whether a session, perhaps under a new token by now, is still valid and its user still has this role; null is an
 * operator's.
 */
export async function isUserStillIn(
  ctx: SessionContext,
  { kind, sessionId }: Pick<PartnerUser | Operator, 'kind' | 'sessionId'>,
  role: Role | null,
): Promise<boolean> {
  const { count } = await ctx.db.sql`
    select s.id from sessions s where s.id = ${sessionId} and ${alive(ctx, kind, ctx.clock.now())}
      and exists (select from users u where u.id = s.user_id and u.role is not distinct from ${role})`;
  return count === 1;
}

/** The scope in which a partner's user works: its partner, in the chosen mode. */
export function userScope({ partner }: Pick<PartnerUser, 'partner'>, mode: Mode): Scope {
  return scopeOf(partner.id, mode === 'test');
}

type Self = Pick<PartnerUser | Operator, 'kind' | 'userId'>;

/** A user's valid sessions, most recently used first. */
export function listUserSessions(ctx: SessionContext, { kind, userId }: Self): Promise<SessionView[]> {
  const { sql } = ctx.db;
  return sql<SessionView[]>`
    select id, created_at, last_seen_at, ip, user_agent from sessions s
    where user_id = ${userId} and ${alive(ctx, kind, ctx.clock.now())}
    order by last_seen_at desc, id limit ${maxListed}`;
}

/** Ends one session of a user immediately, on every node; false if it is not the user's, or has already ended. */
export async function revokeUserSession(
  ctx: SessionContext,
  { kind, userId }: Self,
  sessionId: string,
): Promise<boolean> {
  const now = ctx.clock.now();
  const { count } = await ctx.db.sql`
    update sessions s set revoked_at = ${now}
    where user_id = ${userId} and id = ${sessionId} and ${alive(ctx, kind, now)}`;
  return count === 1;
}

/** Ends all sessions of a user at once. */
export async function revokeSessionsOf(ctx: Pick<Context, 'clock'>, sql: Tx | Sql, userId: string): Promise<void> {
  await sql`update sessions set revoked_at = ${ctx.clock.now()} where user_id = ${userId} and revoked_at is null`;
}

/** True when a session began, or a passkey was used in it, within the last ten minutes. */
export async function isFreshSession(ctx: SessionContext, sessionId: string): Promise<boolean> {
  const [row] = await ctx.db.sql<{ fresh: boolean }[]>`
    select greatest(created_at, confirmed_at) > ${new Date(ctx.clock.now().getTime() - freshMs)} as fresh
    from sessions where id = ${sessionId}`;
  return row?.fresh === true;
}

/**
 * Records that a passkey was used in a session, which continues under a new token. A stolen copy of the old token
 * becomes worthless rather than more powerful.
 *
 * @returns the new token for the cookie
 */
export async function confirmSession(
  ctx: Pick<Context, 'config' | 'clock'>,
  tx: Tx,
  sessionId: string,
): Promise<string> {
  const token = newToken();
  await tx`
    update sessions set confirmed_at = ${ctx.clock.now()},
      token_hash = ${keyedHash(newest(ctx.config.secretKeys), 'session', token)}
    where id = ${sessionId}`;
  return token;
}
