import type { IncomingMessage } from 'node:http';
import type { Context } from '../context.ts';
import type { Scope, Sql } from '../db/connection.ts';
import { type Fragment, list } from '../db/sql.ts';
import { refuse } from '../errors.ts';
import { isWellFormedKey, keyHashes, type ScopeName } from './api-keys.ts';
import { countedUp } from './calls-per-minute.ts';
import { type HostOwner, hostOwner } from './host.ts';
import { refuseUnknownKey } from './missing-secret-key.ts';
import { scopeOf } from './scope.ts';

/** What one endpoint requires of a caller. */
export type GateRule = { endpoint: string; perMinute: number; scope: ScopeName };

/** The caller: one partner in one mode, and the partner's settings. */
export type Caller = {
  scope: Scope;
  currency: string;
  allowedExpiryMinutes: number[];
  defaultExpiryMinutes: number;
};

/**
 * What an endpoint adds to the gate's statement.
 *
 * - `columns`: the data that it reads beside the key. They may use the row `key` (partner_id, test_mode).
 * - `join`: a table `made` with the row that the statement itself creates. It may create one only if `within` (the call
 *   is within the limit) and `key.may` (the key has the scope). If it created none, `made.id` is null, and a second
 *   statement reads `columns`, which therefore cost nothing if a row was created.
 * - `made`: turns the created row into facts.
 */
export type Facts = { columns: Fragment } & (
  | { join: Fragment; made(row: Record<string, unknown>): object; together?: RunInGroup }
  | { join?: never; made?: never; together?: never }
);

/**
 * Counts a call and creates its row, perhaps in one statement with other calls that arrive together (`gate-group.ts`).
 *
 * @param alone counts the call in a statement of its own
 */
export type RunInGroup = (
  call: GateCall,
  rule: GateRule,
  alone: () => Promise<GateRow | undefined>,
) => Promise<GateRow | undefined>;

/** The parts of a call that the gate's statement needs. */
export type GateCall = { hashes: Buffer[]; owner: HostOwner };

/** The parts of a call's key that may be shown, and the hash by which this process knows it. */
export type CallingKey = { id: string; hint: string; hash: string };

// A malformed header reveals nothing about stored keys, so the message may say what is wrong with it.
const noKey = 'No API key was sent. Send it in the header Authorization: Bearer <API_KEY>.';
const noBearer = 'The Authorization header must be: Bearer <API_KEY>.';
const twoHeaders = 'The Authorization header was sent twice. Send it once.';
const incomplete =
  'This is not a complete API key: a key is qt_test_ or qt_live_ followed by 38 letters and digits. Copy it again.';
const unknownHost = 'The API does not answer for this host name. /docs shows its address.';

type SentHeaders = Pick<IncomingMessage, 'headers' | 'headersDistinct'>;

/**
 * The key of a call. Does not say whether the key exists.
 *
 * @throws Refusal unauthorized when there is no well-formed key
 */
export function mustHaveKey({ headers: { authorization }, headersDistinct }: SentHeaders): string {
  if (!authorization) throw refuse('unauthorized', {}, noKey);
  // Node takes the first of several. A proxy in front may have judged the call by the other one.
  if (headersDistinct.authorization?.length !== 1) throw refuse('unauthorized', {}, twoHeaders);
  const key = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (!key) throw refuse('unauthorized', {}, noBearer);
  if (!isWellFormedKey(key)) throw refuse('unauthorized', {}, incomplete);
  return key;
}

/** The hashes under which a key may be stored, the newest secret's first, and its name in this process. */
export type HashedKey = { hashes: Buffer[]; hash: string };

/** @throws Refusal unauthorized when there is no well-formed key */
export function hashKey({ config }: Context, sent: SentHeaders): HashedKey {
  const hashes = keyHashes(config.secretKeys, mustHaveKey(sent));
  return { hashes, hash: hashes[0]?.toString('base64') ?? '' };
}

/**
 * The partners of keys; null for a key that does not exist, has ended or was revoked. Counts nothing: it is used before
 * work is done for callers that may be unknown.
 */
export async function partnersOfKeys(sql: Sql, keys: readonly HashedKey[]): Promise<(string | null)[]> {
  const rows = await sql<{ hash: Buffer; partner_id: string }[]>`
    select hash, partner_id from api_keys
    where hash = any(${keys.flatMap(({ hashes }) => hashes)}::bytea[]) and revoked_at is null and ${hasNotEnded(sql)}`;
  const owners = new Map(rows.map(({ hash, partner_id }) => [hash.toString('base64'), partner_id]));
  return keys.map(({ hashes }) => {
    const own = hashes.map((hash) => hash.toString('base64')).find((hash) => owners.has(hash));
    return owners.get(own ?? '') ?? null;
  });
}

/** The condition that a key has not ended, by the database's clock, like limits. */
export const hasNotEnded = (sql: Sql) => sql`(ends_at is null or ends_at > clock_timestamp())`;

/** The row that the gate's statement returns. */
export type GateRow = {
  key_id: string;
  hint: string;
  key_partner: string;
  key_test_mode: boolean;
  scopes: string[];
  slug: string;
  disabled: boolean;
  calls: number | null;
  currency: string;
  allowed_expiry_minutes: number[];
  default_expiry_minutes: number;
} & Record<string, unknown>;

/**
 * Reads the key, counts the call and fetches the data for the decision, in one statement that commits. So a call that
 * is refused later is still counted, and a key that was revoked on any node is refused at the next call. The count need
 * not survive a power failure, so the commit does not wait for the disk.
 *
 * @param facts what the endpoint adds to the statement
 * @throws Refusal unauthorized (unavailable if the key may be one of another node), not_found (unknown host),
 * partner_disabled, rate_limited, insufficient_scope: in this order
 */
export async function passGate<F extends object>(
  ctx: Context,
  { named: { hashes, hash }, host, rule }: { named: HashedKey; host: string | undefined; rule: GateRule },
  facts: (sql: Sql) => Facts,
): Promise<{ caller: Caller; key: CallingKey; facts: F }> {
  const owner = hostOwner(ctx.config, host);
  const wanted = facts(ctx.db.sql);
  const alone = () => readAndCount(ctx, hashes, rule, owner, wanted);
  const row = await (wanted.together ? wanted.together({ hashes, owner }, rule, alone) : alone());
  if (!row) throw await refuseUnknownKey(ctx);
  if (owner === undefined) throw refuse('not_found', {}, unknownHost);
  if (owner !== null && owner !== row.slug) throw refuse('unauthorized');
  if (row.disabled) throw refuse('partner_disabled');
  if (row.calls === null || row.calls > rule.perMinute) throw refuse('rate_limited');
  if (!row.scopes.includes(rule.scope)) {
    const sentence = `This API key lacks the scope ${rule.scope}.`;
    throw refuse('insufficient_scope', { required_scope: rule.scope }, sentence);
  }
  const caller = {
    scope: scopeOf(row.key_partner, row.key_test_mode),
    currency: row.currency,
    allowedExpiryMinutes: row.allowed_expiry_minutes,
    defaultExpiryMinutes: row.default_expiry_minutes,
  };
  const found = await factsOf(ctx.db.sql, caller.scope, wanted, row);
  return { caller, key: { id: row.key_id, hint: row.hint, hash }, facts: found as unknown as F };
}

async function factsOf(sql: Sql, scope: Scope, { columns, made }: Facts, row: GateRow) {
  if (!made) return row;
  return row.id === null ? await readFacts(sql, scope, columns) : made(row);
}

async function readFacts(sql: Sql, { partnerId, testMode }: Scope, columns: Fragment) {
  const [row] = await sql`
    with key as (select ${partnerId}::uuid as partner_id, ${testMode}::boolean as test_mode)
    select ${columns} from key`;
  return row;
}

async function readAndCount(
  ctx: Context,
  hashes: Buffer[],
  { endpoint, perMinute, scope }: GateRule,
  owner: string | null | undefined,
  { columns, join }: Facts,
): Promise<GateRow | undefined> {
  const { sql } = ctx.db;
  // The count of a call need not survive a power failure; a created row must.
  const waits = join
    ? sql`case when made.id is null then 'off' else current_setting('synchronous_commit') end`
    : sql`'off'`;
  const [row] = await sql<GateRow[]>`
    with key as (
      select ${keyColumns(sql, scope)}
      from api_keys k join partners p on p.id = k.partner_id
      where k.hash in ${list(hashes)} and k.revoked_at is null and ${hasNotEnded(sql)}
    ), counted as (
      insert into rate_counters as counter (partner_id, subject, action, minute, calls)
      select partner_id, id, ${endpoint}, date_trunc('minute', clock_timestamp()), 1 from key
      where not disabled and ${owner !== undefined} and coalesce(slug = ${owner ?? null}, true)
      ${countedWithin(sql, perMinute)}
    )
    select ${shownColumns(sql)},
      set_config('synchronous_commit', ${waits}, true) as waits, ${join ? sql`made.*` : columns}
    from key left join counted on true ${join ?? sql``}`;
  return row;
}

/** The columns of `key`, selected from a key `k` and its partner `p`. */
export const keyColumns = (sql: Sql, scope: ScopeName) => sql`
  k.id, k.hint, k.partner_id, k.test_mode, k.scopes, ${scope} = any(k.scopes) as may, p.slug,
  p.disabled_at is not null as disabled, p.currency, p.allowed_expiry_minutes, p.default_expiry_minutes`;

/** How a call is counted, and whether it is within its limit. */
export const countedWithin = (sql: Sql, perMinute: number) => sql`
  ${countedUp(sql)}
  returning counter.subject, calls, calls <= ${perMinute}::int as within`;

/** The columns of `key` and `counted` by which the gate decides. */
export const shownColumns = (sql: Sql) => sql`
  key.id as key_id, hint, key.partner_id as key_partner, key.test_mode as key_test_mode, scopes, slug, disabled,
  currency, allowed_expiry_minutes, default_expiry_minutes, calls`;

/** For endpoints that need only the caller. */
export const noFacts = (sql: Sql): Facts => ({ columns: sql`1 as nothing` });
