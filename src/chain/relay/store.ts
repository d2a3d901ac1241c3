import type { Sql, Tx } from '../../db/connection.ts';
import type { Fragment } from '../../db/sql.ts';
import type { Hex } from '../rpc.ts';
import type { Account } from './account-store.ts';
import { updateFees } from './budget-store.ts';
import type { Offer } from './fees.ts';

/**
 * The state of a relayed call. `allotted`: it has its nonce and is not signed yet. `sent`: signed, and perhaps
 * broadcast. `mined`: in a block that is not final yet. `final`: it succeeded, for good. `reverted`: it was mined and
 * failed, for good. `lost`: another transaction used its nonce, for good.
 */
export type RelayState = 'allotted' | 'sent' | 'mined' | 'final' | 'reverted' | 'lost';

/** What a call is for. */
export type RelayPurpose = 'charge' | 'revoke' | 'authorization';

export type RelayRow = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  chain_id: string;
  from_address: Hex;
  nonce: string;
  to_address: Hex;
  data: Uint8Array;
  gas: string;
  purpose: RelayPurpose;
  state: RelayState;
  hash: Hex | null;
  fee_wei: string;
  reached: boolean;
  /** Why it is not signed, or no endpoint has it: `<kind>: <words>`. */
  trouble: string | null;
  block_number: string | null;
  block_hash: string | null;
  succeeded: boolean | null;
  passed_block: string | null;
  sent_head: string | null;
  /** How long ago it was enqueued, last signed, and last sent to an endpoint. */
  allotted_ms: number;
  sent_ms: number | null;
  tried_ms: number | null;
  refused_ms: number | null;
};

export type Variant = Offer & { hash: Hex; signed: Hex; cancels: boolean };
export type StoredVariant = Variant & { relayId: string; feeWei: bigint | null };

export const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;
const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');

export type NewRelay = Account & {
  partnerId: string;
  testMode: boolean;
  id: string;
  nonce: number;
  to: Hex;
  data: Hex;
  gas: bigint;
  purpose: RelayPurpose;
  subjectId: string;
  accountId: string;
  feeWei: bigint;
};

export async function insertRelays(tx: Tx, calls: readonly NewRelay[]): Promise<void> {
  await tx`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, account_id, day, fee_wei)
    select k.partner_id, k.test_mode, k.id, k.chain_id, k.address, k.nonce, k.recipient, k.data, k.gas, k.purpose,
      k.subject_id, k.account_id, (now() at time zone 'utc')::date, k.fee_wei
    from unnest(${calls.map((one) => one.partnerId)}::uuid[], ${calls.map((one) => one.testMode)}::boolean[],
        ${calls.map((one) => one.id)}::uuid[], ${calls.map((one) => one.chainId)}::bigint[],
        ${calls.map((one) => one.address)}::text[], ${calls.map((one) => one.nonce)}::bigint[],
        ${calls.map((one) => one.to)}::text[], ${calls.map((one) => bytesOf(one.data))}::bytea[],
        ${calls.map((one) => one.gas)}::bigint[], ${calls.map((one) => one.purpose)}::text[],
        ${calls.map((one) => one.subjectId)}::uuid[], ${calls.map((one) => one.accountId)}::uuid[],
        ${calls.map((one) => one.feeWei)}::numeric[])
      as k (partner_id, test_mode, id, chain_id, address, nonce, recipient, data, gas, purpose, subject_id, account_id,
        fee_wei)`;
}

const columns = (sql: Sql | Tx) => sql`
  partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas, purpose, state, hash, fee_wei,
  reached, trouble, block_number, block_hash, succeeded, passed_block, sent_head,
  (extract(epoch from now() - allotted_at) * 1000)::float8 as allotted_ms,
  (extract(epoch from now() - sent_at) * 1000)::float8 as sent_ms,
  (extract(epoch from now() - tried_at) * 1000)::float8 as tried_ms,
  (extract(epoch from now() - refused_at) * 1000)::float8 as refused_ms`;

/** Calls by their ids, by nonce. Those that the transaction may not see are missing. */
export function selectRelays(sql: Sql | Tx, ids: readonly string[]): Promise<RelayRow[]> {
  return sql<RelayRow[]>`
    select ${columns(sql)} from relay_transactions where id = any(${[...ids]}::uuid[]) order by nonce`;
}

/**
 * Undecided calls of an account, by nonce: the first that wait to be mined, the first whose nonce was used, and the
 * first that were mined. So calls that wait to be final, or that no endpoint decides, do not keep others from being
 * sent. For the last two kinds, some at a random position are added, so that later calls are decided even if the first
 * ones never are.
 *
 * @param limits how many of each kind are the first, and how many come from anywhere
 */
export function selectLive(
  sql: Sql,
  { chainId, address }: Account,
  limits: { first: number; anywhere: number },
): Promise<RelayRow[]> {
  const toBeMined = sql`state in ('allotted', 'sent') and passed_block is null`;
  const passed = sql`state in ('allotted', 'sent') and passed_block is not null`;
  const mined = sql`state = 'mined'`;
  const ofAccount = (kind: Fragment) => sql`
    from relay_transactions where chain_id = ${chainId} and from_address = ${address} and ${kind}`;
  const first = (kind: Fragment) => sql`(select id ${ofAccount(kind)} order by nonce limit ${limits.first})`;
  const anywhere = (kind: Fragment) => sql`
    (select id ${ofAccount(kind)} and nonce >= (
        select (min(nonce) + random() * (max(nonce) - min(nonce)))::bigint ${ofAccount(kind)})
      order by nonce limit ${limits.anywhere})`;
  return sql<RelayRow[]>`
    select ${columns(sql)} from relay_transactions
    where id in (${first(toBeMined)} union ${first(passed)} union ${anywhere(passed)} union ${first(mined)}
      union ${anywhere(mined)})
    order by nonce`;
}

/** The call with a nonce, whatever its state. */
export async function selectByNonce(sql: Sql, { chainId, address }: Account, nonce: number): Promise<RelayRow | null> {
  const [row] = await sql<RelayRow[]>`
    select ${columns(sql)} from relay_transactions
    where chain_id = ${chainId} and from_address = ${address} and nonce = ${nonce}`;
  return row ?? null;
}

/** How many calls of a partner wait to be mined on a chain. */
export async function countWaiting(
  tx: Tx,
  { partnerId, testMode, chainId }: { partnerId: string; testMode: boolean; chainId: number },
): Promise<number> {
  const [row] = await tx<{ waiting: number }[]>`
    select count(*)::int as waiting from relay_transactions
    where partner_id = ${partnerId} and test_mode = ${testMode} and chain_id = ${chainId}
      and state in ('allotted', 'sent')`;
  return row?.waiting ?? 0;
}

/** All variants of calls, by call, the highest offers first. */
export async function selectVariants(sql: Sql, ids: readonly string[]): Promise<Map<string, StoredVariant[]>> {
  type Row = {
    relay_id: string;
    hash: Hex;
    signed: Uint8Array;
    max_fee_wei: string;
    priority_fee_wei: string;
    cancels: boolean;
    fee_wei: string | null;
  };
  if (ids.length === 0) return new Map();
  const rows = await sql<Row[]>`
    select relay_id, hash, signed, max_fee_wei, priority_fee_wei, cancels, fee_wei from relay_variants
    where relay_id = any(${[...ids]}::uuid[]) order by relay_id, max_fee_wei desc`;
  const variants = rows.map((row) => ({
    relayId: row.relay_id,
    hash: row.hash,
    signed: hexOf(row.signed),
    maxFeeWei: BigInt(row.max_fee_wei),
    priorityFeeWei: BigInt(row.priority_fee_wei),
    cancels: row.cancels,
    feeWei: row.fee_wei === null ? null : BigInt(row.fee_wei),
  }));
  return Map.groupBy(variants, ({ relayId }) => relayId);
}

/** A variant of a call that was just signed; the call as it was read before. */
export type SignedCall = { row: RelayRow; variant: Variant };

/**
 * Stores variants of calls that were just signed, before anybody sees them. The additional cost is counted in the
 * partner's budget even if nothing is left of it, because a call that has its nonce must be mined.
 *
 * @returns the ids of the calls that changed. For the others another process was faster, or they have ended: they must
 * not be broadcast
 */
export async function insertVariants(tx: Tx, signed: readonly SignedCall[], head: number): Promise<Set<string>> {
  const ids = signed.map(({ row }) => row.id);
  await lockCalls(tx, ids);
  const changed = await tx<{ id: string }[]>`
    update relay_transactions r set state = 'sent', hash = k.hash, sent_at = now(), sent_head = ${head}, reached = false,
      tried_at = null, trouble = null, refused_at = null
    from unnest(${ids}::uuid[], ${signed.map(({ variant }) => variant.hash)}::text[],
      ${signed.map(({ row }) => row.hash)}::text[]) as k (id, hash, before)
    where r.id = k.id and r.state in ('allotted', 'sent') and r.hash is not distinct from k.before returning r.id`;
  const kept = new Set(changed.map(({ id }) => id));
  const ours = signed.filter(({ row }) => kept.has(row.id));
  if (ours.length === 0) return kept;
  await tx`
    insert into relay_variants (partner_id, test_mode, relay_id, hash, signed, max_fee_wei, priority_fee_wei, cancels)
    select r.partner_id, r.test_mode, r.id, k.hash, k.signed, k.max_fee_wei, k.priority_fee_wei, k.cancels
    from unnest(${ours.map(({ row }) => row.id)}::uuid[], ${ours.map(({ variant }) => variant.hash)}::text[],
        ${ours.map(({ variant }) => bytesOf(variant.signed))}::bytea[],
        ${ours.map(({ variant }) => variant.maxFeeWei)}::numeric[],
        ${ours.map(({ variant }) => variant.priorityFeeWei)}::numeric[],
        ${ours.map(({ variant }) => variant.cancels)}::boolean[])
        as k (id, hash, signed, max_fee_wei, priority_fee_wei, cancels)
      join relay_transactions r using (id)`;
  const fees = ours.map(({ row, variant }) => ({ row, feeWei: BigInt(row.gas) * variant.maxFeeWei }));
  await updateFees(
    tx,
    fees.flatMap(({ row, feeWei }) => (feeWei > BigInt(row.fee_wei) ? [{ id: row.id, feeWei }] : [])),
  );
  return kept;
}

/** Locks calls until the transaction ends, in the order that everybody uses. */
export async function lockCalls(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx`select from relay_transactions where id = any(${[...ids]}::uuid[]) order by id for update`;
}

/** The result of sending a call's newest variant. */
export type Tried = {
  id: string;
  hash: Hex;
  /** Why no endpoint has it; null if one has. */
  trouble: string | null;
  /** Whether all of them refuse it as it is. */
  refused: boolean;
};

/** Stores the results of sending variants that are still the newest ones. */
export async function updateTried(sql: Sql, tried: readonly Tried[]): Promise<void> {
  await sql`
    update relay_transactions r set reached = k.trouble is null, trouble = k.trouble, tried_at = now(),
      refused_at = case when k.refused then coalesce(r.refused_at, now()) end
    from (
      select o.id, t.hash, t.trouble, t.refused
      from unnest(${tried.map(({ id }) => id)}::uuid[], ${tried.map(({ hash }) => hash)}::text[],
          ${tried.map(({ trouble }) => trouble)}::text[], ${tried.map(({ refused }) => refused)}::boolean[])
          as t (id, hash, trouble, refused)
        join relay_transactions o using (id)
      order by o.id for update of o) k
    where r.id = k.id and r.hash = k.hash and r.state = 'sent'`;
}

/** Why a call could not be signed, and whether its signer refuses it. One that was signed before may still be mined. */
export async function updateUnsigned(
  sql: Sql,
  id: string,
  { trouble, refused }: { trouble: string; refused: boolean },
): Promise<void> {
  await sql`
    update relay_transactions set trouble = ${trouble}, tried_at = now(),
      refused_at = case when state = 'sent' then refused_at when ${refused} then coalesce(refused_at, now()) end
    where id = ${id} and state in ('allotted', 'sent')`;
}

/** Stores the fees that the reader has read, for transactions that are ours. */
export async function updateVariantFees(
  tx: Tx,
  read: readonly { txHash: string; feeWei: bigint | null }[],
): Promise<void> {
  const fees = read.filter(({ feeWei }) => feeWei !== null);
  if (fees.length === 0) return;
  await tx`
    update relay_variants v set fee_wei = read.fee
    from unnest(${fees.map(({ txHash }) => txHash)}::text[], ${fees.map(({ feeWei }) => String(feeWei))}::numeric[])
      as read (hash, fee)
    where v.hash = read.hash`;
}
