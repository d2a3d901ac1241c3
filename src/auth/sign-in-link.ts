import type { Context } from '../context.ts';
import type { Database, Sql, Tx } from '../db/connection.ts';
import { list } from '../db/sql.ts';
import { dayMs, minuteMs } from '../lib/durations.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import type { HostOwner } from './host.ts';
import { refuseUnknownLink } from './missing-secret-key.ts';
import type { Role } from './roles.ts';
import { isToken, newToken } from './token.ts';
import type { UserKind } from './user-session.ts';

/** A link is valid this long, and for one sign-in. */
export const linkMs = 15 * minuteMs;
/**
 * How many links one address is sent per asker within `linkMs`, and within a day. Each network is an asker, and so is
 * each browser with which the address has signed in.
 */
const linksPerAsker = 5;
const linksPerAskerAndDay = 20;
/**
 * How many links one address is sent within `linkMs` for all unknown askers together, so that many networks cannot
 * flood it.
 */
const linksForStrangers = 20;
/** How long expired links are kept, so that pages can explain what happened to them. */
const keptMs = dayMs;
const forgottenAtOnce = 100;

type Purpose = 'link' | 'browser' | 'asker';
const hashOf = (secret: SecretKey, purpose: Purpose, token: string) =>
  keyedHash(secret, 'sign-in', `${purpose}/${token}`);
const hashesOf = ({ config }: Pick<Context, 'config'>, purpose: Purpose, token: string) =>
  config.secretKeys.map((secret) => hashOf(secret, purpose, token));

type LinkContext = Pick<Context, 'config' | 'clock'>;

/** Who requests a link, as its limit sees it: the client's network, or a browser with which this user has signed in. */
export type LinkAsker = { subject: string; known: boolean };

/** Who requests the link, and where: `partnerId` is set on a partner's own host. */
export type LinkAsked = {
  kind: UserKind;
  email: string;
  partnerId: string | null;
  browser: string;
  token: string;
  asker: LinkAsker;
};

/**
 * Stores a requested link, whoever the address belongs to.
 *
 * @returns `known`: a user can sign in here with this address; `exhausted`: the limit of this asker for this address is
 * reached
 */
export async function storeLink(
  ctx: LinkContext,
  tx: Tx,
  asked: LinkAsked,
): Promise<'known' | 'unknown' | 'exhausted'> {
  const { kind, email, partnerId, browser, token, asker } = asked;
  const now = ctx.clock.now();
  const secret = newest(ctx.config.secretKeys);
  const askerHash = hashOf(secret, 'asker', asker.subject);
  const recently = new Date(now.getTime() - linkMs);
  // Serialises requests for one address, so its limit is exact.
  await tx`select pg_advisory_xact_lock(hashtextextended(${`sign-in ${email}`}, 0))`;
  const [row] = await tx<{ known: boolean }[]>`
    with forgotten as (
      delete from sign_in_links where token_hash in (
        select token_hash from sign_in_links where expires_at < ${new Date(now.getTime() - keptMs)}
        order by expires_at limit ${forgottenAtOnce} for update skip locked)
    ), recent as (
      select count(*) filter (where asker_hash = ${askerHash}) as own_day,
        count(*) filter (where asker_hash = ${askerHash} and created_at > ${recently}) as own,
        count(*) filter (where not known_browser and created_at > ${recently}) as strangers
      from sign_in_links
      where email = ${email} and kind = ${kind} and user_id is null
        and created_at > ${new Date(now.getTime() - dayMs)})
    insert into sign_in_links (
      token_hash, kind, email, partner_id, browser_hash, created_at, expires_at, asker_hash, known_browser)
    select ${hashOf(secret, 'link', token)}, ${kind}, ${email}, ${partnerId}::uuid,
      ${hashOf(secret, 'browser', browser)}, ${now}::timestamptz, ${new Date(now.getTime() + linkMs)}::timestamptz,
      ${askerHash}, ${asker.known}
    from recent
    where own < ${linksPerAsker} and own_day < ${linksPerAskerAndDay}
      and (${asker.known} or strangers < ${linksForStrangers})
    returning exists (
      select from users u where u.email = ${email} and u.disabled_at is null
        and (u.partner_id is null) = (${kind}::text = 'operator')
        and (${partnerId}::uuid is null or u.partner_id = ${partnerId})) as known`;
  if (!row) return 'exhausted';
  return row.known ? 'known' : 'unknown';
}

/**
 * Stores the link of an invitation, which is for one user and works in any browser. Invitations have the same limit as
 * requested links, whoever invites.
 *
 * @returns its token; or which limit of this user is reached: that of `linkMs`, or that of a day
 */
export async function storeInvitation(
  ctx: LinkContext,
  sql: Tx | Sql,
  user: { id: string; email: string; partnerId: string | null },
): Promise<{ token: string } | { token: null; ofDay: boolean }> {
  const token = newToken();
  const now = ctx.clock.now();
  const kind: UserKind = user.partnerId === null ? 'operator' : 'partner_user';
  const [row] = await sql<{ stored: boolean; of_day: boolean }[]>`
    with recent as (
      select count(*) as day, count(*) filter (where created_at > ${new Date(now.getTime() - linkMs)}) as few
      from sign_in_links
      where email = ${user.email} and user_id = ${user.id} and created_at > ${new Date(now.getTime() - dayMs)}
    ), stored as (
      insert into sign_in_links (token_hash, kind, email, partner_id, user_id, created_at, expires_at)
      select ${hashOf(newest(ctx.config.secretKeys), 'link', token)}, ${kind}, ${user.email}, ${user.partnerId}::uuid,
        ${user.id}::uuid, ${now}::timestamptz, ${new Date(now.getTime() + linkMs)}::timestamptz
      from recent where few < ${linksPerAsker} and day < ${linksPerAskerAndDay}
      returning token_hash)
    select exists (select from stored) as stored, day >= ${linksPerAskerAndDay} as of_day from recent`;
  return row?.stored ? { token } : { token: null, ofDay: row?.of_day === true };
}

/** Where a link is opened. `browser` is the token that the browser got when it requested a link; null without one. */
export type LinkOpened = { kind: UserKind; token: string; browser: string | null; host: HostOwner };

/**
 * A user with the link's address; `role`, `partner_name` and `partner_slug` are null for an operator. A user who has a
 * passkey must use it: the link alone does not sign in.
 */
export type LinkUser = {
  id: string;
  role: Role | null;
  partner_name: string | null;
  partner_slug: string | null;
  passkey: boolean;
};

export type LinkState =
  | { state: 'unknown' | 'used' | 'expired' | 'other_browser' }
  | { state: 'open'; email: string; users: LinkUser[]; isInvitation: boolean };

/**
 * The condition under which a user may sign in with a link, as fragments over `sign_in_links l`, `users u`, `partners
 * p`.
 */
function linkConditions({ sql }: Database, { kind, host }: LinkOpened) {
  return sql`
    u.email = l.email and u.disabled_at is null
    and (u.partner_id is null) = (${kind}::text = 'operator')
    and (l.user_id is null or l.user_id = u.id) and (l.partner_id is null or l.partner_id = u.partner_id)
    and (${host ?? null}::text is null or p.slug = ${host ?? null})`;
}

/**
 * What opening a link would do. It changes nothing, because programs that scan mails open links too.
 *
 * @throws MissingSecretKey
 */
export async function readLink(ctx: Pick<Context, 'config' | 'db' | 'clock'>, opened: LinkOpened): Promise<LinkState> {
  if (!isToken(opened.token)) return { state: 'unknown' };
  const { sql } = ctx.db;
  type Row = {
    email: string;
    used: boolean;
    expired: boolean;
    own_browser: boolean;
    invitation: boolean;
    users: string;
  };
  const [row] = await sql<Row[]>`
    select l.email, l.used_at is not null as used, l.expires_at <= ${ctx.clock.now()} as expired,
      coalesce(l.browser_hash in ${list(hashesOf(ctx, 'browser', opened.browser ?? ''))}, true) as own_browser,
      l.user_id is not null as invitation,
      (select coalesce(json_agg(json_build_object('id', u.id, 'role', u.role, 'partner_name', p.name,
          'partner_slug', p.slug,
          'passkey', exists (select from passkeys k where k.user_id = u.id)) order by p.name, u.id), '[]')
        from users u left join partners p on p.id = u.partner_id where ${linkConditions(ctx.db, opened)}) as users
    from sign_in_links l where l.token_hash in ${list(hashesOf(ctx, 'link', opened.token))} and l.kind = ${opened.kind}`;
  if (!row) {
    await refuseUnknownLink(ctx);
    return { state: 'unknown' };
  }
  if (row.used) return { state: 'used' };
  if (row.expired) return { state: 'expired' };
  if (!row.own_browser) return { state: 'other_browser' };
  const users = JSON.parse(row.users) as LinkUser[];
  if (users.length === 0) return { state: 'unknown' };
  return { state: 'open', email: row.email, users, isInvitation: row.invitation };
}

/**
 * Consumes a link to sign in as one of its users.
 *
 * @returns null if the link is no longer valid here, is not for this user, or needs a passkey
 */
export async function useLink(
  ctx: Context,
  tx: Tx,
  opened: LinkOpened,
  userId: string,
): Promise<{ id: string; email: string; partnerId: string | null } | null> {
  if (!isToken(opened.token)) return null;
  const now = ctx.clock.now();
  const [row] = await tx<{ id: string; email: string; partner_id: string | null }[]>`
    update sign_in_links l set used_at = ${now}
    from users u left join partners p on p.id = u.partner_id
    where l.token_hash in ${list(hashesOf(ctx, 'link', opened.token))} and l.kind = ${opened.kind}
      and l.used_at is null and l.expires_at > ${now}
      and (l.browser_hash is null or l.browser_hash in ${list(hashesOf(ctx, 'browser', opened.browser ?? ''))})
      and u.id = ${userId} and ${linkConditions(ctx.db, opened)}
      and not exists (select from passkeys k where k.user_id = u.id)
    returning u.id, u.email, u.partner_id`;
  return row ? { id: row.id, email: row.email, partnerId: row.partner_id } : null;
}
