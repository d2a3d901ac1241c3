import type { Sql, Tx } from '../../db/connection.ts';
import type { Hex } from '../rpc.ts';
import type { Account } from './account-store.ts';
import type { Offer } from './fees.ts';

/**
 * Where a relayed call stands. `allotted`: it has its nonce and is not signed yet. `sent`: signed, and perhaps
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
  /** How long ago it was taken on, last signed, and last handed to an endpoint. */
  allotted_ms: number;
  sent_ms: number | null;
  tried_ms: number | null;
  refused_ms: number | null;
};

export type Variant = Offer & { hash: Hex; signed: Hex; cancels: boolean };
export type KeptVariant = Variant & { relayId: string; feeWei: bigint | null };

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
  feeWei: bigint;
};

export async function insertRelay(tx: Tx, call: NewRelay): Promise<void> {
  await tx`
    insert into relay_transactions (partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas,
      purpose, subject_id, day, fee_wei)
    values (${call.partnerId}, ${call.testMode}, ${call.id}, ${call.chainId}, ${call.address}, ${call.nonce},
      ${call.to}, ${bytesOf(call.data)}, ${call.gas}, ${call.purpose}, ${call.subjectId},
      (now() at time zone 'utc')::date, ${call.feeWei})`;
}

const columns = (sql: Sql | Tx) => sql`
  partner_id, test_mode, id, chain_id, from_address, nonce, to_address, data, gas, purpose, state, hash, fee_wei,
  reached, trouble, block_number, block_hash, succeeded, passed_block, sent_head,
  (extract(epoch from now() - allotted_at) * 1000)::float8 as allotted_ms,
  (extract(epoch from now() - sent_at) * 1000)::float8 as sent_ms,
  (extract(epoch from now() - tried_at) * 1000)::float8 as tried_ms,
  (extract(epoch from now() - refused_at) * 1000)::float8 as refused_ms`;

/** A call; null when there is none with this id, or none that the transaction may see. */
export async function selectRelay(sql: Sql | Tx, id: string): Promise<RelayRow | null> {
  const [row] = await sql<RelayRow[]>`select ${columns(sql)} from relay_transactions where id = ${id}`;
  return row ?? null;
}

/** The calls of an account that the chain has not decided, by nonce. */
export function selectLive(sql: Sql, { chainId, address }: Account, limit: number): Promise<RelayRow[]> {
  return sql<RelayRow[]>`
    select ${columns(sql)} from relay_transactions
    where chain_id = ${chainId} and from_address = ${address} and state in ('allotted', 'sent', 'mined')
    order by nonce limit ${limit}`;
}

/** The call that has a nonce, whatever became of it. */
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

/** All variants of calls, by call, those that offer most first. */
export async function selectVariants(sql: Sql, ids: readonly string[]): Promise<Map<string, KeptVariant[]>> {
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

/**
 * Keeps a variant that was just signed, before anybody sees it. What it may cost more than the one before is counted
 * in the partner's budget, whatever is left of it: a call that has its nonce must be mined.
 *
 * @returns false when another process was faster, or the call has ended: then it must not be broadcast
 */
export async function insertVariant(tx: Tx, row: RelayRow, variant: Variant, head: number): Promise<boolean> {
  const feeWei = BigInt(row.gas) * variant.maxFeeWei;
  const changed = await tx`
    update relay_transactions set state = 'sent', hash = ${variant.hash}, sent_at = now(), sent_head = ${head},
      reached = false, tried_at = null, trouble = null, refused_at = null
    where id = ${row.id} and state in ('allotted', 'sent') and hash is not distinct from ${row.hash} returning id`;
  if (changed.length === 0) return false;
  await tx`
    insert into relay_variants (partner_id, test_mode, relay_id, hash, signed, max_fee_wei, priority_fee_wei, cancels)
    values (${row.partner_id}, ${row.test_mode}, ${row.id}, ${variant.hash}, ${bytesOf(variant.signed)},
      ${variant.maxFeeWei}, ${variant.priorityFeeWei}, ${variant.cancels})`;
  if (feeWei > BigInt(row.fee_wei)) await updateFee(tx, row.id, feeWei);
  return true;
}

/** Sets what a call costs, and counts the difference on the day on which it was taken on. */
async function updateFee(tx: Tx, id: string, feeWei: bigint): Promise<void> {
  await tx`
    with before as (select * from relay_transactions where id = ${id}),
    changed as (update relay_transactions set fee_wei = ${feeWei} where id = ${id})
    update relay_spending s set wei = greatest(0, s.wei + ${feeWei} - before.fee_wei) from before
    where s.partner_id = before.partner_id and s.test_mode = before.test_mode and s.chain_id = before.chain_id
      and s.day = before.day`;
}

/**
 * What became of handing on the newest variant.
 *
 * @param trouble why no endpoint has it; null where one has
 * @param refused whether all of them refuse it as it is
 */
export async function updateTried(
  sql: Sql,
  { id, hash }: { id: string; hash: Hex },
  trouble: string | null,
  refused: boolean,
): Promise<void> {
  await sql`
    update relay_transactions set reached = ${trouble === null}, trouble = ${trouble}, tried_at = now(),
      refused_at = case when ${refused} then coalesce(refused_at, now()) end
    where id = ${id} and hash = ${hash} and state = 'sent'`;
}

/** Why a call could not be signed. */
export async function updateUnsigned(sql: Sql, id: string, trouble: string): Promise<void> {
  await sql`
    update relay_transactions set trouble = ${trouble}, tried_at = now()
    where id = ${id} and state in ('allotted', 'sent')`;
}

/** What the reader has read of the fees of transactions, where they are ours. */
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

/** A transaction as the reader has stored it, because it moved money to a merchant. */
export type Found = { blockNumber: number; blockHash: string; final: boolean; counts: boolean };

/** Those of these transactions that the reader has found, by hash. */
export async function selectFound(sql: Sql, chainId: number, hashes: readonly string[]): Promise<Map<string, Found>> {
  type Row = { tx_hash: string; block_number: string; block_hash: string; final: boolean; counts: boolean };
  const rows = await sql<Row[]>`
    select tx_hash, min(block_number) as block_number, min(block_hash) as block_hash,
      bool_or(final_at is not null) as final, bool_or(counts) as counts
    from transfers where chain_id = ${chainId} and tx_hash = any(${[...hashes]}::text[]) group by tx_hash`;
  return new Map(
    rows.map(({ tx_hash, block_number, block_hash, final, counts }) => [
      tx_hash,
      { blockNumber: Number(block_number), blockHash: block_hash, final, counts },
    ]),
  );
}

/** Where a variant was mined; `feeWei` is null where that is not known. */
export type Mined = { hash: Hex; blockNumber: number; blockHash: string; succeeded: boolean; feeWei: bigint | null };
/** A fee that is told is believed up to so many times what was offered: a rollup adds to it for its own chain. */
const believedFactor = 10n;

/** Keeps in which block a call was found, and what it cost. */
export async function updateMined(sql: Sql, row: RelayRow, mined: Mined): Promise<void> {
  await sql.begin(async (tx) => {
    const changed = await tx`
      update relay_transactions set state = 'mined', hash = ${mined.hash}, block_number = ${mined.blockNumber},
        block_hash = ${mined.blockHash}, succeeded = ${mined.succeeded}, passed_block = null, trouble = null,
        refused_at = null
      where id = ${row.id} and state in ('sent', 'mined') returning id`;
    if (changed.length === 0 || mined.feeWei === null || row.state === 'mined') return;
    const most = BigInt(row.fee_wei) * believedFactor;
    await updateFee(tx, row.id, mined.feeWei < most ? mined.feeWei : most);
  });
}

/** Takes back that a call was mined: its block is no longer on the chain. */
export async function updateGone(sql: Sql, id: string): Promise<void> {
  await sql`
    update relay_transactions set state = 'sent', block_number = null, block_hash = null, succeeded = null,
      reached = false, sent_at = now(), tried_at = null, passed_block = null
    where id = ${id} and state = 'mined'`;
}

/** Notes at which head the nonces of calls were found used, without a variant being found. */
export async function updatePassed(sql: Sql, ids: readonly string[], head: number | null): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update relay_transactions set passed_block = ${head}
    where id = any(${[...ids]}::uuid[]) and state in ('allotted', 'sent')`;
}

/**
 * Ends a call for good.
 *
 * @param feeWei what it cost; null where that is known already
 */
export async function updateEnded(
  sql: Sql,
  id: string,
  state: 'final' | 'reverted' | 'lost',
  feeWei: bigint | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    const changed = await tx`
      update relay_transactions set state = ${state}, ended_at = now()
      where id = ${id} and state in ('allotted', 'sent', 'mined') returning id`;
    if (changed.length > 0 && feeWei !== null) await updateFee(tx, id, feeWei);
  });
}
