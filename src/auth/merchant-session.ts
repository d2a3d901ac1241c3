import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { list } from '../db/sql.ts';
import { dayMs, hourMs, minuteMs } from '../lib/durations.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { keptUserAgent } from '../lib/text/user-agent.ts';
import type { Client } from './client.ts';
import type { OwnHost } from './host.ts';
import { scopeOf } from './scope.ts';
import { newToken } from './token.ts';

/** A merchant's session ends after this idle time, and at the latest this long after sign-in. */
export const merchantSession = { idleMs: 12 * hourMs, absoluteMs: 7 * dayMs } as const;
/** The last use of a session is written at most this often. */
const seenEveryMs = minuteMs;
/** How long ended sessions are kept for the merchant to review. */
const keptMs = 30 * dayMs;
const maxListed = 100;

/** A merchant that is signed in. */
export type MerchantSession = {
  id: string;
  scope: Scope;
  accountId: string;
  walletAddress: string;
};

type SessionContext = Pick<Context, 'config' | 'db' | 'clock'>;

/** The hashes under which a session's token may be stored: one per secret key in use. */
export function tokenHashes(secrets: SecretKey[], token: string): Buffer[] {
  return secrets.map((secret) => keyedHash(secret, 'session', token));
}

/**
 * Signs a merchant in with a new token. The browser's previous session ends.
 *
 * @param subject `walletAddress` is the current wallet; the session ends when it changes
 * @param earlier the token that the browser still has; null if it has none
 * @returns the token for the cookie; only its hash is stored
 */
export async function createMerchantSession(
  ctx: SessionContext,
  subject: { scope: Scope; accountId: string; walletAddress: string },
  client: Client,
  earlier: string | null,
): Promise<string> {
  const { scope, accountId, walletAddress } = subject;
  const token = newToken();
  const now = ctx.clock.now();
  const expiresAt = new Date(now.getTime() + merchantSession.absoluteMs);
  const { sql } = ctx.db;
  await sql`
    with replaced as (
      update sessions set revoked_at = ${now}
      where token_hash in ${list(tokenHashes(ctx.config.secretKeys, earlier ?? ''))} and revoked_at is null
    ), forgotten as (
      delete from sessions where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
        and account_id = ${accountId} and last_seen_at < ${new Date(now.getTime() - keptMs)})
    insert into sessions (id, token_hash, kind, partner_id, test_mode, account_id, wallet_address, created_at,
      last_seen_at, expires_at, ip, user_agent)
    values (${randomUUID()}, ${keyedHash(newest(ctx.config.secretKeys), 'session', token)}, 'merchant',
      ${scope.partnerId}, ${scope.testMode}, ${accountId}, ${walletAddress}, ${now}, ${now}, ${expiresAt},
      ${client.ip}, ${keptUserAgent(client.userAgent)})`;
  return token;
}

type SessionRow = {
  id: string;
  partner_id: string;
  test_mode: boolean;
  account_id: string;
  wallet_address: string;
};

/** The condition for a valid session: its merchant must still have the wallet it signed in with. */
const alive = ({ db: { sql } }: SessionContext, now: Date) => sql`
  s.kind = 'merchant' and s.revoked_at is null and s.expires_at > ${now}
  and s.last_seen_at > ${new Date(now.getTime() - merchantSession.idleMs)}
  and exists (select from merchants m where (m.partner_id, m.test_mode, m.id) = (s.partner_id, s.test_mode, s.account_id)
    and m.wallet_address = s.wallet_address and m.wallet_signed_at <= s.created_at and m.onboarded_at is not null)`;

/**
 * The session of a token, in one statement; null if there is none. The token is not valid on another partner's own
 * host.
 *
 * @param inUse whether the call counts as activity, which extends the session
 */
export async function readMerchantSession(
  ctx: SessionContext,
  token: string,
  host: OwnHost | null,
  inUse: boolean,
): Promise<MerchantSession | null> {
  const now = ctx.clock.now();
  const { sql } = ctx.db;
  const [row] = await sql<SessionRow[]>`
    with found as (
      select s.* from sessions s
      where s.token_hash in ${list(tokenHashes(ctx.config.secretKeys, token))} and ${alive(ctx, now)}
        and (${host === null} or s.partner_id = ${host?.partnerId ?? null})
    ), seen as (
      update sessions s set last_seen_at = ${now} from found
      where ${inUse} and s.id = found.id and found.last_seen_at < ${new Date(now.getTime() - seenEveryMs)})
    select id, partner_id, test_mode, account_id, wallet_address from found`;
  if (!row) return null;
  return {
    id: row.id,
    scope: scopeOf(row.partner_id, row.test_mode),
    accountId: row.account_id,
    walletAddress: row.wallet_address,
  };
}

/** Whether a merchant's session is still valid. */
export async function isMerchantStillIn(ctx: SessionContext, sessionId: string): Promise<boolean> {
  const { count } = await ctx.db.sql`
    select s.id from sessions s where s.id = ${sessionId} and ${alive(ctx, ctx.clock.now())}`;
  return count === 1;
}

export type SessionView = { id: string; created_at: Date; last_seen_at: Date; ip: string; user_agent: string | null };

/** A merchant's valid sessions, most recently used first. */
export function listMerchantSessions(ctx: SessionContext, scope: Scope, accountId: string): Promise<SessionView[]> {
  const { sql } = ctx.db;
  return sql<SessionView[]>`
    select id, created_at, last_seen_at, ip, user_agent from sessions s
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and ${alive(ctx, ctx.clock.now())}
    order by last_seen_at desc, id limit ${maxListed}`;
}

/** Ends one session of a merchant immediately, on every node; false if it is not the merchant's, or has ended. */
export async function revokeMerchantSession(
  ctx: SessionContext,
  scope: Scope,
  accountId: string,
  sessionId: string,
): Promise<boolean> {
  const now = ctx.clock.now();
  const { count } = await ctx.db.sql`
    update sessions s set revoked_at = ${now}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}
      and id = ${sessionId} and ${alive(ctx, now)}`;
  return count === 1;
}
