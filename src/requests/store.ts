import type { Caller } from '../auth/gate.ts';
import type { Database, Scope, Sql, Tx } from '../db/connection.ts';
import { dueSince, type Since } from '../db/due.ts';
import { constant, type Fragment, identifiers, type Statement, type Tag } from '../db/sql.ts';
import { isOpen, isPast, seenStatus } from './expiry.ts';
import { inStates, type States, statesOf } from './in-states.ts';
import { reservedAfterEndMs } from './reservations.ts';

/** A row of `requests`. Money is in decimal strings; `metadata` is the JSON text as given, keys in order. */
export type RequestRow = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  account_id: string;
  idempotency_key: string | null;
  fiat_int: string;
  fiat_code: string;
  usdc_micro: string;
  reserved: boolean;
  rate: string;
  /** `override` or names of sources; null on requests from before this was stored. */
  rate_source: string | null;
  memo: string | null;
  payment_mode: 'pos' | 'invoice';
  customer_name: string | null;
  customer_email: string | null;
  customer_phone: string | null;
  metadata: string;
  wallet_address: string;
  reference: Uint8Array;
  start_blocks: Record<string, number>;
  /** Where its wallet could be paid when the request was created; null: on any chain. */
  wallet_chain_ids: number[] | null;
  status: 'requested' | 'opened' | 'expired' | 'voided';
  proof_status: 'none' | 'attached' | 'verified';
  proof_note: string | null;
  asset_id: string | null;
  tx_hash: string | null;
  payer_address: string | null;
  /** Orders requests: strictly increasing in a scope, and ahead of real time after the clock has jumped. */
  created_at: Date;
  /** When it was really created; null on requests from before this was stored. */
  made_at: Date | null;
  expires_at: Date;
  opened_at: Date | null;
  voided_at: Date | null;
  proof_verified_at: Date | null;
};

/** The columns of a request `r`, with its current status: expiry applies at once for every reader, stored or not. */
export const requestColumns = (sql: Tag) => sql`r.*, ${seenStatus(sql)} as status`;

const shownNames = [
  ...(['id', 'account_id', 'test_mode', 'proof_status', 'created_at', 'expires_at', 'proof_verified_at'] as const),
  ...([
    'fiat_int',
    'fiat_code',
    'usdc_micro',
    'asset_id',
    'wallet_chain_ids',
    'tx_hash',
    'memo',
    'payment_mode',
  ] as const),
  ...(['customer_name', 'customer_email', 'customer_phone', 'metadata'] as const),
];

/** What the API shows of a request. A list reads only this: the rest is as many columns again. */
export type ShownRequest = Pick<RequestRow, (typeof shownNames)[number] | 'status'>;

/** A block by its hash and its time (RFC 3339), so that it is recognised after a reorganisation. */
export type StartHead = { hash: string; time: string };

/** What a create stores, but for its place in time and in the chains. */
export type PlannedRequest = {
  id: string;
  accountId: string;
  idempotencyKey: string | null;
  fiatInt: number;
  fiatCode: string;
  /** Before the surcharge that tells it apart. */
  exactMicro: bigint;
  rate: string;
  /** Where the rate came from: `override`, or the names of its sources. */
  rateSource: string | null;
  memo: string | null;
  paymentMode: 'pos' | 'invoice';
  customerName: string | null;
  customerEmail: string | null;
  customerPhone: string | null;
  /** JSON text. */
  metadata: string;
  walletAddress: string;
  reference: Uint8Array;
  expiryMinutes: number;
};

export type NewRequest = PlannedRequest & {
  /** By chain id: the newest block that is known. */
  startBlocks: Record<string, number>;
  /** The hash and time of these blocks, by chain id; a block that is missing here is not trusted. */
  startHeads: Record<string, StartHead>;
};

/**
 * When a request gets its place in its scope's order, which locks the clock of all creates there: `now`, in a statement
 * that commits by itself, or `at commit` of a larger transaction. Until then, `created_at` is unknown.
 */
export type Ordered = 'now' | 'at commit';

/** As stored: `{"1": 23000000, "heads": {"1": {"hash": "0x…", "time": "…"}}}`. */
function startOf({ startBlocks, startHeads }: NewRequest) {
  return { ...startBlocks, heads: startHeads };
}

/**
 * Stores a request in one statement; for a key that was already used, returns the stored one.
 *
 * @returns null when the merchant no longer has the wallet
 */
export async function insertRequest(
  sql: Sql,
  scope: Scope,
  request: NewRequest,
  ordered: Ordered,
): Promise<{ row: RequestRow; replayed: boolean } | null> {
  const r = request;
  const [found] = await sql<(RequestRow & { replayed: boolean })[]>`
    select (made.stored).*, made.replayed from create_request(
      ${scope.partnerId}, ${scope.testMode}, ${r.id}, ${r.accountId}, ${r.idempotencyKey}, ${r.fiatInt}, ${r.fiatCode},
      ${r.exactMicro.toString()}, ${r.rate}, ${r.rateSource}, ${r.memo}, ${r.paymentMode}, ${r.customerName},
      ${r.customerEmail}, ${r.customerPhone}, ${r.metadata}, ${r.walletAddress}, ${Buffer.from(r.reference)},
      ${JSON.stringify(startOf(r))}, ${`${r.expiryMinutes} minutes`}, ${ordered === 'at commit'}) as made`;
  if (!found) throw new Error('create_request returned no row');
  const { replayed, ...row } = found;
  if (row.id === null) return null;
  return { row: row as RequestRow, replayed };
}

/** What a create was decided by, for its statement to compare. */
export type Assumed = {
  request: PlannedRequest;
  caller: Caller;
  /** When the rate was fetched (RFC 3339); null for an override. */
  rateAt: string | null;
  /** Where the wallet can be paid; null: on any chain. */
  paidOn: number[] | null;
  /** The chains of the mode. */
  chainIds: number[];
};

/** What the database decided of a request that was stored as assumed. */
type Stored = Pick<RequestRow, 'id' | 'usdc_micro' | 'created_at' | 'expires_at'>;

/**
 * Stores a request in the gate's statement where everything is as assumed: then `made` makes the facts of its row, and
 * the commit waits for the disk. Otherwise its `id` is null, and `columns` are read.
 */
export function assumedRequest(sql: Sql, assumed: Assumed, columns: Fragment) {
  const { request: r, caller, rateAt, paidOn, chainIds } = assumed;
  const { partnerId, testMode } = caller.scope;
  const join = sql`
    left join lateral store_as_assumed(
      within and key.may and key.partner_id = ${partnerId}::uuid and key.test_mode = ${testMode}::boolean
        and key.allowed_expiry_minutes = ${caller.allowedExpiryMinutes}::int[]
        and key.default_expiry_minutes = ${caller.defaultExpiryMinutes}::int,
      ${partnerId}, ${testMode}, ${r.id}, ${r.accountId}, ${r.idempotencyKey}, ${r.fiatInt}, ${r.fiatCode},
      ${r.exactMicro.toString()}, ${r.rate}, ${rateAt}, ${r.rateSource}, ${r.memo}, ${r.paymentMode}, ${r.customerName},
      ${r.customerEmail}, ${r.customerPhone}, ${r.metadata}, ${r.walletAddress}, ${paidOn}, ${Buffer.from(r.reference)},
      ${chainIds}::bigint[], ${`${r.expiryMinutes} minutes`}) as made on true`;
  return { columns, join, made: (row: Record<string, unknown>) => ({ stored: shownAs(assumed, row as Stored) }) };
}

/** A new request as the API shows it: what was sent, and what the database decided. */
function shownAs(
  { request: r, caller, paidOn }: Assumed,
  { id, usdc_micro, created_at, expires_at }: Stored,
): ShownRequest {
  return {
    ...{ id, usdc_micro, created_at, expires_at },
    ...{ account_id: r.accountId, test_mode: caller.scope.testMode, status: 'requested', proof_status: 'none' },
    ...{ fiat_int: String(r.fiatInt), fiat_code: r.fiatCode, wallet_chain_ids: paidOn },
    ...{ proof_verified_at: null, asset_id: null, tx_hash: null, memo: r.memo, payment_mode: r.paymentMode },
    ...{ customer_name: r.customerName, customer_email: r.customerEmail, customer_phone: r.customerPhone },
    metadata: r.metadata,
  };
}

export type RequestFilter = {
  status?: RequestRow['status'];
  proofStatus?: RequestRow['proof_status'];
  accountId?: string;
  since?: Date;
  until?: Date;
  limit: number;
  offset: number;
};

/**
 * The sizes of the default and of the largest page at the beginning of a list, each with the row that shows whether
 * there are more.
 */
const pageSizes = [51, 101];

/**
 * One page plus one row, oldest first: `created_at` is unique within a scope. Expiry counts from the moment it has
 * passed, stored or not.
 */
export function selectRequests(sql: Tag, scope: Scope, filter: RequestFilter): Statement<ShownRequest[]> {
  const { status, proofStatus, accountId, since, until } = filter;
  const where = sql`
    ${accountId ? sql`and r.account_id = ${accountId}` : sql``}
    ${since ? sql`and r.created_at >= ${since}` : sql``} ${until ? sql`and r.created_at < ${until}` : sql``}`;
  const { limit, offset } = filter;
  const states = statesOf(status, proofStatus);
  const size = pageSizes.find((max) => offset + limit + 1 <= max);
  if (size === undefined) return selectFrom(sql, scope, { states, where, limit, offset });
  const place = sql`order by created_at limit ${constant(size)}`;
  const list = inStates(sql, scope, states, { where, place, columns: identifiers(...shownNames, 'status') });
  return sql<ShownRequest[]>`
    select ${identifiers(...shownNames)}, ${seenStatus(sql)} as status from (${list}) r
    order by created_at limit ${limit + 1} offset ${offset}`;
}

/**
 * As `selectRequests`, for a page far into the list. What is skipped is read from an index, by its time alone; only
 * what is shown is read from the table.
 */
function selectFrom(
  sql: Tag,
  scope: Scope,
  { states, where, limit, offset }: { states: States | null; where: Fragment; limit: number; offset: number },
): Statement<ShownRequest[]> {
  const columns = sql`r.created_at`;
  const skipped = inStates(sql, scope, states, {
    ...{ where, columns, place: sql`order by created_at limit ${offset + 1}` },
  });
  const shown = inStates(sql, scope, states, {
    where: sql`${where} and r.created_at >= (select created_at from first)`,
    place: sql`order by created_at limit ${limit + 1}`,
    columns: identifiers(...shownNames, 'status'),
  });
  return sql<ShownRequest[]>`
    with first as materialized (
      select created_at from (${skipped}) skipped order by created_at limit 1 offset ${offset})
    select ${identifiers(...shownNames)}, ${seenStatus(sql)} as status from (${shown}) r
    order by created_at limit ${limit + 1}`;
}

/** Voids a request that nobody has opened or paid; null when its state does not allow it. */
export async function updateVoided(tx: Tx, scope: Scope, id: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    with voided as (
      update requests r set status = 'voided', voided_at = now()
      where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}
        and r.status = 'requested' and ${isOpen(tx)}
      returning *
    ), released as (
      update amount_reservations set reserved_until = now() + ${reservedAfterEndMs} * interval '1 ms'
      where request_id in (select id from voided) returning request_id
    )
    select * from voided`;
  return row ?? null;
}

/** Marks a request as opened by its customer; null when it is no longer waiting for that. */
export async function updateOpened(tx: Tx, scope: Scope, id: string): Promise<RequestRow | null> {
  const [row] = await tx<RequestRow[]>`
    update requests r set status = 'opened', opened_at = now()
    where r.partner_id = ${scope.partnerId} and r.test_mode = ${scope.testMode} and r.id = ${id}
      and r.status = 'requested' and ${isOpen(tx)}
    returning *`;
  return row ?? null;
}

/** Stores the expiry of requests whose time has passed, over all scopes; every reader already sees it. */
export async function updateExpired(db: Database, limit: number, since: Since): Promise<number> {
  const rows = await db.sql`
    update requests set status = 'expired'
    where (partner_id, test_mode, id) in (
      select r.partner_id, r.test_mode, r.id from requests r
      where ${isPast(db.sql)} ${dueSince(db.sql, db.sql`r.expires_at`, since)}
      order by r.expires_at limit ${limit} for update skip locked)
    returning id`;
  return rows.length;
}

/** A block this old, or this far in the future, says little about the present. */
export const headFreshMs = 15_000;

export type KnownHead = StartHead & { number: number };

/**
 * Columns for the gate's statement: an earlier request with the same key, and the newest blocks of the chains that the
 * watcher has read, where they are recent. The provider's claimed head is not used.
 */
export function startFacts(sql: Sql, accountId: string | null, idempotencyKey: string | null) {
  return sql`
    (select r.id from requests r where r.partner_id = key.partner_id and r.test_mode = key.test_mode
      and r.account_id = ${accountId}::uuid and r.idempotency_key = ${idempotencyKey}) as replay_id,
    (select jsonb_object_agg(chain_id, jsonb_build_object('number', number, 'hash', hash, 'time', block_time))
      from chain_cursors where block_time between now() - ${headFreshMs} * interval '1 ms'
        and now() + ${headFreshMs} * interval '1 ms') as heads`;
}
