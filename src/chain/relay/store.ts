import type { Sql, Tx } from '../../db/connection.ts';
import type { Hex } from '../rpc.ts';
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
  state: RelayState;
  hash: Hex | null;
  fee_wei: string;
  allotted_at: Date;
  sent_at: Date | null;
  sent_head: string | null;
  reached: boolean;
  tried_at: Date | null;
  block_number: string | null;
  block_hash: string | null;
  succeeded: boolean | null;
  passed_block: string | null;
};

export type AccountRow = {
  chain_id: string;
  address: Hex;
  next_nonce: string;
  chain_nonce: string;
  balance_wei: string;
  base_fee_wei: string;
  priority_fee_wei: string;
  head_number: string;
  /** Whether the chain has answered lately. */
  fresh: boolean;
};

export type Variant = Offer & { hash: Hex; signed: Hex };

/** What was learned of an account longer ago says nothing of now. */
const staleMs = 5 * 60_000;

type Account = { chainId: number; address: Hex };

export const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;

/** What the chain says of an account now. */
export type Seen = {
  chainNonce: number;
  balanceWei: bigint;
  baseFeeWei: bigint;
  priorityFeeWei: bigint;
  head: number;
};

/** Keeps what the chain says of an account. The next nonce only rises, and is never below the chain's count. */
export async function upsertAccount(sql: Sql, { chainId, address }: Account, seen: Seen): Promise<void> {
  await sql`
    insert into relay_accounts as known (chain_id, address, next_nonce, chain_nonce, balance_wei, base_fee_wei,
      priority_fee_wei, head_number, checked_at)
    values (${chainId}, ${address}, ${seen.chainNonce}, ${seen.chainNonce}, ${seen.balanceWei}, ${seen.baseFeeWei},
      ${seen.priorityFeeWei}, ${seen.head}, now())
    on conflict (chain_id, address) do update set
      next_nonce = greatest(known.next_nonce, excluded.chain_nonce), chain_nonce = excluded.chain_nonce,
      balance_wei = excluded.balance_wei, base_fee_wei = excluded.base_fee_wei,
      priority_fee_wei = excluded.priority_fee_wei, head_number = excluded.head_number,
      checked_at = excluded.checked_at`;
}

/** An account as it was last seen; null before the chain has answered for the first time. */
export async function selectAccount(sql: Sql | Tx, { chainId, address }: Account): Promise<AccountRow | null> {
  const [row] = await sql<AccountRow[]>`
    select chain_id, address, next_nonce, chain_nonce, balance_wei, base_fee_wei, priority_fee_wei, head_number,
      checked_at > now() - ${staleMs} * interval '1 ms' as fresh
    from relay_accounts where chain_id = ${chainId} and address = ${address}`;
  return row ?? null;
}

/**
 * Gives out the next nonce of an account, and holds the account until the transaction ends. Nonces that have a call
 * already are passed over.
 */
export async function takeNonce(tx: Tx, { chainId, address }: Account, lookMs: number): Promise<number> {
  const [row] = await tx<{ nonce: string }[]>`
    update relay_accounts a set next_nonce = greatest(a.next_nonce, a.chain_nonce) + 1,
      look_at = least(a.look_at, now() + ${lookMs} * interval '1 ms')
    where chain_id = ${chainId} and address = ${address} returning next_nonce - 1 as nonce`;
  if (!row) throw new Error('the account is not known');
  return Number(row.nonce);
}

export type NewRelay = {
  partnerId: string;
  testMode: boolean;
  id: string;
  chainId: number;
  from: Hex;
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
    values (${call.partnerId}, ${call.testMode}, ${call.id}, ${call.chainId}, ${call.from}, ${call.nonce}, ${call.to},
      ${Buffer.from(call.data.slice(2), 'hex')}, ${call.gas}, ${call.purpose}, ${call.subjectId},
      (now() at time zone 'utc')::date, ${call.feeWei})`;
}

const columns = (sql: Sql | Tx) => sql`
  r.partner_id, r.test_mode, r.id, r.chain_id, r.from_address, r.nonce, r.to_address, r.data, r.gas, r.state, r.hash,
  r.fee_wei, r.allotted_at, r.sent_at, r.sent_head, r.reached, r.tried_at, r.block_number, r.block_hash, r.succeeded,
  r.passed_block`;

export async function selectRelay(sql: Sql | Tx, id: string): Promise<RelayRow | null> {
  const [row] = await sql<RelayRow[]>`select ${columns(sql)} from relay_transactions r where id = ${id}`;
  return row ?? null;
}

/** The calls of an account that the chain has not decided, by nonce. */
export function selectLive(sql: Sql, { chainId, address }: Account, limit: number): Promise<RelayRow[]> {
  return sql<RelayRow[]>`
    select ${columns(sql)} from relay_transactions r
    where chain_id = ${chainId} and from_address = ${address} and state in ('allotted', 'sent', 'mined')
    order by nonce limit ${limit}`;
}

/** The variants of calls, the newest of each first. */
export async function selectVariants(sql: Sql | Tx, ids: readonly string[]): Promise<(Variant & { id: string })[]> {
  type Row = { relay_id: string; hash: Hex; signed: Uint8Array; max_fee_wei: string; priority_fee_wei: string };
  const rows = await sql<Row[]>`
    select relay_id, hash, signed, max_fee_wei, priority_fee_wei from relay_variants
    where relay_id = any(${[...ids]}::uuid[]) order by relay_id, max_fee_wei desc`;
  return rows.map((row) => ({
    id: row.relay_id,
    hash: row.hash,
    signed: hexOf(row.signed),
    maxFeeWei: BigInt(row.max_fee_wei),
    priorityFeeWei: BigInt(row.priority_fee_wei),
  }));
}

/**
 * Keeps a variant that was just signed, before anybody sees it.
 *
 * @param last the hash of the variant that it replaces; null for the first
 * @returns false when another process was faster: then it must not be broadcast
 */
export function insertVariant(
  tx: Tx,
  row: RelayRow,
  last: Hex | null,
  variant: Variant,
  head: number,
): Promise<boolean> {
  return (async () => {
    const changed = await tx`
      update relay_transactions set state = 'sent', hash = ${variant.hash}, sent_at = now(), sent_head = ${head},
        reached = false, tried_at = null, trouble = null
      where id = ${row.id} and state in ('allotted', 'sent') and hash is not distinct from ${last} returning id`;
    if (changed.length === 0) return false;
    await tx`
      insert into relay_variants (partner_id, test_mode, relay_id, hash, signed, max_fee_wei, priority_fee_wei)
      values (${row.partner_id}, ${row.test_mode}, ${row.id}, ${variant.hash},
        ${Buffer.from(variant.signed.slice(2), 'hex')}, ${variant.maxFeeWei}, ${variant.priorityFeeWei})`;
    return true;
  })();
}

/** What became of handing on the newest variant. */
export async function updateTried(sql: Sql, id: string, hash: Hex, trouble: string | null): Promise<void> {
  await sql`
    update relay_transactions set reached = ${trouble === null}, trouble = ${trouble}, tried_at = now()
    where id = ${id} and hash = ${hash} and state = 'sent'`;
}
