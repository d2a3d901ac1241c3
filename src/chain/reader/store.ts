import { raiseAlarm } from '../../db/alarms.ts';
import type { Database, Tx } from '../../db/connection.ts';
import { insertion } from '../../db/sql.ts';
import { chunksOf } from '../../lib/chunks.ts';
import { updateVariantFees } from '../relay/store.ts';
import type { Header, Log } from '../rpc.ts';
import type { Bindings } from './bindings.ts';
import { checkpointsIn, deleteCheckpointsAfter, insertCheckpoints } from './checkpoints-store.ts';
import type { Lease } from './lease.ts';
import { type RemovedRow, type RemovedTransfer, toRemoved } from './removed.ts';
import { settleReplaced } from './replaced-store.ts';
import { clearReversed, type MinedAgain, raiseReversed } from './reversed-store.ts';
import { widenGaps } from './tokens-read-store.ts';
import { deleteUnreadAfter, insertUnread } from './unread-store.ts';
import type { Owner } from './wallets.ts';

/** How many blocks are kept, to compare parent hashes and to walk back along. */
const keptBlocks = 512;

/** Up to where a chain was read. */
export type Cursor = { number: number; hash: string };

/** What the provider says about the chain, stored beside the cursor. */
export type Progress = { head: number; final: number; safe: number | null; finalized: number | null };

/** A transfer to a watched wallet, as it appears in a block. Addresses and hashes in lower case. */
export type FoundTransfer = {
  txHash: string;
  /** The position of the log in its transaction, and in its block. */
  ordinal: number;
  logIndex: number;
  block: Header;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
  partnerId: string;
  accountId: string;
  /** False if no provider returned the transaction's calldata. */
  calldataRead: boolean;
  calldataReference: Buffer | null;
  /** False if no provider returned the other logs of the transaction. */
  logsRead: boolean;
  /** The fee that the transaction's sender paid; null if its receipt was not read. */
  feeWei: bigint | null;
} & Bindings;

/** A transaction of a block that could not be read; without a hash, all logs of the block. */
export type Unread = {
  block: Header;
  txHash: string | null;
  /** Its transfers to watched wallets, and for which merchant each wallet is watched. */
  logs: Log[];
  owners: Record<string, Owner>;
};

/** This process no longer reads the chain; nothing was written. */
export class Deposed extends Error {}

/** The last block that was read of a chain; null when it was never read. */
export async function selectCursor(db: Database, chainId: number): Promise<Cursor | null> {
  const [row] = await db.sql<{ number: string; hash: string }[]>`
    select number, hash from chain_cursors where chain_id = ${chainId}`;
  return row ? { number: Number(row.number), hash: row.hash } : null;
}

/** The hashes of the stored blocks, by number. */
export async function selectBlocks(db: Database, chainId: number): Promise<Map<number, string>> {
  const rows = await db.sql<{ number: string; hash: string }[]>`
    select number, hash from chain_blocks where chain_id = ${chainId} order by number desc limit ${keptBlocks + 1}`;
  return new Map(rows.map((row) => [Number(row.number), row.hash]));
}

const maxNewest = 10_000;
const maxKnown = 20_000;

/**
 * The newest blocks up to a number that are known, newest first: checkpoints, blocks with transfers as far back as
 * these reach, and those of payments that are not settled. Final transfers are among them, because the operator is told
 * that all of these after the block that is found are gone.
 */
export async function selectKnownBlocks(db: Database, chainId: number, upTo: number): Promise<Cursor[]> {
  // Materialized: a plan that goes down through all blocks of the chain would read years of payments that are final.
  const rows = await db.sql<{ number: string; hash: string }[]>`
    with unsettled as materialized (
      select block_number, block_hash from transfers where chain_id = ${chainId} and counts and final_at is null
    ), unmatched as materialized (
      select block_number, block_hash from transfers where chain_id = ${chainId} and judged_at is null
    ), newest as materialized (
      select block_number, block_hash from transfers
      where chain_id = ${chainId} and block_number <= ${upTo} and block_number > (
        select least(c.final_number, (select min(k.number) from chain_checkpoints k where k.chain_id = c.chain_id))
        from chain_cursors c where c.chain_id = ${chainId})
      order by block_number desc limit ${maxNewest}
    )
    select block_number as number, min(block_hash) as hash
    from (table unsettled union all table unmatched union all table newest
      union all select number, hash from chain_checkpoints where chain_id = ${chainId}) known
    where block_number <= ${upTo} group by block_number order by block_number desc limit ${maxKnown}`;
  return rows.map((row) => ({ number: Number(row.number), hash: row.hash }));
}

/** Excludes every earlier holder of the lease: their writes find a greater fence. */
export async function raiseFence(db: Database, chainId: number, lease: Lease): Promise<void> {
  await db.sql`update chain_cursors set fence = ${lease.fence} where chain_id = ${chainId} and fence < ${lease.fence}`;
}

/** Starts reading a chain after this block. */
export async function insertCursor(db: Database, chainId: number, lease: Lease, first: Header, progress: Progress) {
  await db.transaction(async (tx) => {
    const started = await tx`
      insert into chain_cursors (chain_id, fence, number, hash, block_time, head_number, final_number, safe_number,
        finalized_number, updated_at)
      values (${chainId}, ${lease.fence}, ${first.number}, ${first.hash}, ${first.time}, ${progress.head}, ${progress.final},
        ${progress.safe}, ${progress.finalized}, now())
      on conflict (chain_id) do nothing returning chain_id`;
    // Otherwise another process has started it, perhaps long ago, and may know another block of this number.
    if (started.length === 0) return;
    await insertBlocks(tx, chainId, [first]);
    await insertCheckpoints(tx, chainId, [first]);
  });
}

/** From where to where the cursor moves, and what the provider says meanwhile. */
type Move = { from: Cursor; to: Header; progress: Progress };

/**
 * Moves the cursor from where this process expects it. The row stays locked until the transaction ends.
 *
 * @throws Deposed when another process leads the chain or moved the cursor
 */
async function moveCursor(tx: Tx, chainId: number, lease: Lease, { from, to, progress }: Move): Promise<void> {
  const moved = await tx`
    update chain_cursors set fence = ${lease.fence}, number = ${to.number}, hash = ${to.hash}, block_time = ${to.time},
      head_number = ${progress.head}, final_number = ${progress.final}, safe_number = ${progress.safe},
      finalized_number = ${progress.finalized}, updated_at = now()
    where chain_id = ${chainId} and fence <= ${lease.fence} and number = ${from.number} and hash = ${from.hash}
      and exists (select from leases where name = ${lease.name} and fence = ${lease.fence})
    returning chain_id`;
  if (moved.length === 0) throw new Deposed(`chain ${chainId}: another process leads`);
}

/**
 * Locks the cursor until the transaction ends, for a write that belongs to blocks already read.
 *
 * @throws Deposed
 */
export async function holdCursor(tx: Tx, chainId: number, lease: Lease): Promise<void> {
  const held = await tx`
    select from chain_cursors where chain_id = ${chainId} and fence <= ${lease.fence}
      and exists (select from leases where name = ${lease.name} and fence = ${lease.fence}) for update`;
  if (held.length === 0) throw new Deposed(`chain ${chainId}: another process leads`);
}

/**
 * Stores what the provider says about the chain while no block is read.
 *
 * @returns whether transactions are set aside; other processes set them aside too
 */
export async function updateProgress(
  db: Database,
  chainId: number,
  lease: Lease,
  progress: Progress,
): Promise<{ unread: boolean }> {
  const [row] = await db.sql<{ unread: boolean }[]>`
    update chain_cursors set head_number = ${progress.head}, final_number = ${progress.final},
      safe_number = ${progress.safe}, finalized_number = ${progress.finalized}, updated_at = now()
    where chain_id = ${chainId} and fence <= ${lease.fence}
    returning exists (select from unread_transactions u where u.chain_id = ${chainId}) as unread`;
  if (!row) throw new Deposed(`chain ${chainId}: another process leads`);
  return row;
}

/** The blocks that were read after the cursor, and what was found in them. */
type NewBlocks = Pick<Move, 'from' | 'progress'> & {
  headers: readonly Header[];
  transfers: readonly FoundTransfer[];
  unread: readonly Unread[];
};

/** Stores blocks that were read, what was found in them and what must be read again: all or nothing. */
export async function saveBlocks(
  db: Database,
  chain: { chainId: number; testMode: boolean },
  lease: Lease,
  { from, headers, transfers, unread, progress }: NewBlocks,
): Promise<void> {
  const last = headers.at(-1);
  if (!last) return;
  await db.transaction(async (tx) => {
    await moveCursor(tx, chain.chainId, lease, { from, to: last, progress });
    await insertBlocks(tx, chain.chainId, headers.slice(-keptBlocks));
    await insertCheckpoints(tx, chain.chainId, checkpointsIn(headers));
    await insertTransfers(tx, chain, transfers);
    await updateVariantFees(tx, transfers);
    for (const one of unread) await insertUnread(tx, chain.chainId, one);
    await tx`delete from chain_blocks where chain_id = ${chain.chainId} and number < ${last.number - keptBlocks}`;
  });
}

async function insertBlocks(tx: Tx, chainId: number, headers: readonly Header[]): Promise<void> {
  const rows = headers.map((header) => ({
    chain_id: chainId,
    number: header.number,
    hash: header.hash,
    parent_hash: header.parentHash,
    block_time: header.time,
  }));
  await tx`
    insert into chain_blocks ${insertion(rows)} on conflict (chain_id, number) do update
      set hash = excluded.hash, parent_hash = excluded.parent_hash, block_time = excluded.block_time`;
}

const rowsAtOnce = 500;

/**
 * Stores transfers. A stored row with the same key was final before a reorganisation, and its transfer is now in
 * another block. If the transfer moves other money there, the row stays as it was, and the operator is told. A row that
 * an endpoint invented is replaced.
 */
export async function insertTransfers(
  tx: Tx,
  chain: { chainId: number; testMode: boolean },
  transfers: readonly FoundTransfer[],
): Promise<void> {
  for (const some of chunksOf(transfers, rowsAtOnce)) {
    const rows = some.map((t) => ({
      tx_hash: t.txHash,
      ordinal: t.ordinal,
      log_index: t.logIndex,
      block_number: t.block.number,
      block_hash: t.block.hash,
      block_time: t.block.time,
      token_address: t.tokenAddress,
      from_address: t.fromAddress,
      to_address: t.toAddress,
      value: t.value.toString(),
      partner_id: t.partnerId,
      account_id: t.accountId,
      calldata_reference: t.calldataReference?.toString('hex') ?? null,
      calldata_read: t.calldataRead,
      authorization_nonce: t.authorizationNonce,
      charged_reference: t.chargedReference,
      logs_read: t.logsRead,
    }));
    const again = await tx<(Omit<MinedAgain, 'request_id'> & { request_id: string | null })[]>`
      insert into transfers (chain_id, test_mode, tx_hash, ordinal, log_index, block_number, block_hash, block_time,
        token_address, from_address, to_address, value, partner_id, account_id, calldata_reference, calldata_read,
        authorization_nonce, charged_reference, logs_read)
      select ${chain.chainId}, ${chain.testMode}, tx_hash, ordinal, log_index, block_number, block_hash, block_time,
        token_address, from_address, to_address, value, partner_id, account_id, decode(calldata_reference, 'hex'),
        calldata_read, decode(authorization_nonce, 'hex'), decode(charged_reference, 'hex'), logs_read
      from json_to_recordset(${JSON.stringify(rows)}::json) as f (tx_hash text, ordinal int, log_index int,
        block_number bigint, block_hash text, block_time timestamptz, token_address text, from_address text,
        to_address text, value numeric, partner_id uuid, account_id uuid, calldata_reference text,
        calldata_read boolean, authorization_nonce text, charged_reference text, logs_read boolean)
      on conflict (chain_id, tx_hash, ordinal) do update set block_number = excluded.block_number,
        block_hash = excluded.block_hash, block_time = excluded.block_time, log_index = excluded.log_index,
        denials = 0, denied_at = null
        where (transfers.block_hash <> excluded.block_hash or transfers.final_at is not null)
          and (transfers.token_address, transfers.from_address, transfers.to_address, transfers.value)
            = (excluded.token_address, excluded.from_address, excluded.to_address, excluded.value)
      returning partner_id, test_mode, request_id`;
    await clearReversed(
      tx,
      chain.chainId,
      again.flatMap(({ request_id, ...scope }) => (request_id === null ? [] : [{ ...scope, request_id }])),
    );
    if (again.length < some.length) await insertTransfers(tx, chain, await settleReplaced(tx, chain.chainId, some));
  }
}

/**
 * Goes back to a block that is still on the chain. Later blocks and the transfers in them that were not final are
 * removed, and `onRemoved` matches what they paid again, all in one transaction. Final transfers stay, and the operator
 * is told.
 *
 * @param lostBlocks for the operator: how many blocks it goes back when no stored block is on the chain any more;
 * otherwise null
 * @throws Deposed
 */
export async function rewindTo(
  db: Database,
  chainId: number,
  lease: Lease,
  { lostBlocks, ...move }: Move & { lostBlocks: number | null },
  onRemoved: (tx: Tx, removed: RemovedTransfer[]) => Promise<void>,
): Promise<void> {
  await db.transaction(async (tx) => {
    const { to: ancestor } = move;
    await moveCursor(tx, chainId, lease, move);
    await tx`delete from chain_blocks where chain_id = ${chainId} and number > ${ancestor.number}`;
    await deleteCheckpointsAfter(tx, chainId, ancestor.number);
    await deleteUnreadAfter(tx, chainId, ancestor.number);
    await widenGaps(tx, chainId, ancestor.number);
    await insertBlocks(tx, chainId, [ancestor]);
    const rows = await tx<RemovedRow[]>`
      delete from transfers where chain_id = ${chainId} and block_number > ${ancestor.number} and final_at is null
      returning tx_hash, ordinal, partner_id, test_mode, request_id, rule, token_address, from_address, to_address, value`;
    await raiseReversed(tx, chainId, ancestor.number);
    if (lostBlocks !== null) {
      const details = { chainId, blocks: lostBlocks };
      await raiseAlarm(tx, { kind: 'chain-deep-reorg', subject: String(chainId), details });
    }
    if (rows.length === 0) return;
    await onRemoved(
      tx,
      rows.map((row) => toRemoved(chainId, row)),
    );
  });
}
