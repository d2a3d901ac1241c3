import type { Scope, Tx } from '../db/connection.ts';
import type { TransferKey } from '../payments/transfers.ts';
import { refundedStates } from '../requests/refunded.ts';
import type { DueReturn } from './queue-store.ts';

/**
 * What is known of giving a payment back: taken for it, then the transaction that was noted; see the migrations
 * `0016_given_back.sql` and `0027_taken_before_given_back.sql`. `kept`: put back, so nothing of it stands.
 */
export type ReturnState = 'returning' | 'sent' | 'confirmed' | 'failed' | 'missing' | 'other' | 'kept';

/** A row of `returns` that stands, as pages show it: nothing binds its payment. */
export type ReturnRow = {
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  request_id: string | null;
  to_address: string;
  usdc_micro: string;
  /** Null while `returning`. */
  return_tx_hash: string | null;
  noted_at: Date;
  /** When `return_tx_hash` took another one's place; null when it did not. */
  replaced_at: Date | null;
  state: Exclude<ReturnState, 'kept'>;
  given_micro: string | null;
};

/** Nothing was sent, as far as the network tells: the merchant sends it, or puts the payment back. */
export const openStates = ['returning', 'failed', 'missing'] as const;

/** True while a payment counts as given back, and not as taken for it only. */
export function standsReturned(row: Pick<ReturnRow, 'state'> | null): boolean {
  return row !== null && (refundedStates as readonly string[]).includes(row.state);
}

const shown = (tx: Tx) => tx`
  b.chain_id, b.tx_hash, b.ordinal, b.request_id, b.to_address, b.usdc_micro, b.return_tx_hash, b.noted_at, b.replaced_at, b.state,
  b.given_micro`;

/** What stands of these transfers; those that nobody took are left out. */
export function selectReturns(tx: Tx, scope: Scope, keys: TransferKey[]): Promise<ReturnRow[]> {
  const wanted = keys.map(({ chainId, txHash, ordinal }) => ({ chain_id: chainId, tx_hash: txHash, ordinal }));
  return tx<ReturnRow[]>`
    select ${shown(tx)} from returns b
      join json_to_recordset(${JSON.stringify(wanted)}::json) as w (chain_id bigint, tx_hash text, ordinal int)
        using (chain_id, tx_hash, ordinal)
    where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.state <> 'kept'`;
}

export async function selectReturn(tx: Tx, scope: Scope, key: TransferKey): Promise<ReturnRow | null> {
  const [row] = await selectReturns(tx, scope, [key]);
  return row ?? null;
}

/** A payment that is taken to be given back. */
export type NewReturn = TransferKey & {
  accountId: string;
  requestId: string | null;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  usdcMicro: bigint;
  notedAt: Date;
};

/**
 * Takes a payment that is locked, before anything is sent. What was noted of it before it was put back, and could still be
 * mined, is noted again.
 *
 * @returns false when it is taken already
 */
export async function insertTaken(tx: Tx, scope: Scope, taken: NewReturn): Promise<boolean> {
  const rows = await tx`
    insert into returns as b (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, request_id, token_address,
      from_address, to_address, usdc_micro, state, noted_at)
    values (${scope.partnerId}, ${scope.testMode}, ${taken.chainId}, ${taken.txHash}, ${taken.ordinal}, ${taken.accountId},
      ${taken.requestId}, ${taken.tokenAddress}, ${taken.fromAddress}, ${taken.toAddress}, ${taken.usdcMicro.toString()},
      'returning', ${taken.notedAt})
    on conflict (partner_id, test_mode, chain_id, tx_hash, ordinal) do update
      set request_id = excluded.request_id, usdc_micro = excluded.usdc_micro, token_address = excluded.token_address,
        from_address = excluded.from_address, to_address = excluded.to_address,
        noted_at = case when b.return_tx_hash is null then excluded.noted_at else b.noted_at end,
        state = case when b.return_tx_hash is null then 'returning' else 'missing' end
      where b.state = 'kept'
    returning b.ordinal`;
  return rows.length > 0;
}

/** A transaction that is said to have given a taken payment back. */
export type ReturnNote = { returnTxHash: string; state: 'sent' | 'confirmed' | 'other'; notedAt: Date };

/**
 * Notes a transaction for a payment that is locked and taken, also in place of one that did not give it back.
 *
 * @param unknownHash what was noted and no endpoint knows: it is replaced, too, unless it was seen or replaced meanwhile
 * @returns false when it is not taken, or counts as given back already
 */
export async function updateNoted(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  note: ReturnNote,
  unknownHash: string | null,
): Promise<boolean> {
  const open = tx`(b.state in ('returning', 'failed', 'missing', 'other')
    or (b.state = 'sent' and b.return_tx_hash = ${unknownHash} and b.given_micro is null))`;
  return replaceNote(tx, scope, key, note, open);
}

/**
 * Notes a transaction again that another one replaced, where nothing is seen to have given the payment back. The payment is
 * locked, and nothing binds it.
 *
 * @returns false where something has given it back, or its merchant says so
 */
export async function updateRecalled(tx: Tx, scope: Scope, key: TransferKey, note: ReturnNote): Promise<boolean> {
  const open = tx`(b.state in ('returning', 'failed', 'missing', 'kept') or (b.state = 'sent' and b.given_micro is null))`;
  return replaceNote(tx, scope, key, note, open);
}

/** What it replaces and could still be mined is looked for on. What stands since the first note counts from then. */
async function replaceNote(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  note: ReturnNote,
  open: ReturnType<Tx>,
): Promise<boolean> {
  const ofPayment = tx`b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode}
    and b.chain_id = ${key.chainId} and b.tx_hash = ${key.txHash} and b.ordinal = ${key.ordinal}`;
  const rows = await tx`
    with old as (
      select b.* from returns b where ${ofPayment} and ${open} for update
    ), stored as (
      insert into returns_replaced (partner_id, test_mode, chain_id, tx_hash, ordinal, return_tx_hash, account_id, request_id,
        token_address, from_address, to_address, usdc_micro, noted_at)
      select partner_id, test_mode, chain_id, tx_hash, ordinal, return_tx_hash, account_id, request_id,
        token_address, from_address, to_address, usdc_micro, noted_at
      from old where state in ('sent', 'missing', 'kept') and return_tx_hash <> ${note.returnTxHash}
        and num_nulls(from_address, token_address) = 0
      on conflict do nothing
    ), recalled as (
      delete from returns_replaced b where ${ofPayment} and b.return_tx_hash = ${note.returnTxHash} and exists (select from old)
    )
    update returns b set return_tx_hash = ${note.returnTxHash}, state = ${note.state}, given_micro = null,
      noted_at = case when old.state = 'sent' then old.noted_at else ${note.notedAt} end,
      replaced_at = case when old.state = 'sent' then ${note.notedAt}::timestamptz end, next_look_at = now()
    from old where ${ofPayment} returning b.ordinal`;
  return rows.length > 0;
}

/**
 * Puts a taken payment back, as nothing was sent. A transaction that no endpoint knew is looked for on.
 *
 * @returns false when it is not taken, or counts as given back
 */
export async function updateKept(tx: Tx, scope: Scope, key: TransferKey): Promise<boolean> {
  const rows = await tx`
    update returns set state = 'kept', return_tx_hash = case when state = 'missing' then return_tx_hash end
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${key.chainId}
      and tx_hash = ${key.txHash} and ordinal = ${key.ordinal} and state = any(${[...openStates]})
    returning ordinal`;
  return rows.length > 0;
}

/**
 * Stores what the chain says of a note, if it still stands as it was looked at; one that is put back and cannot be mined
 * any more is looked for no longer.
 */
export async function updateReturn(tx: Tx, scope: Scope, row: DueReturn, state: ReturnState): Promise<boolean> {
  const rows = await tx`
    update returns set state = ${state}, return_tx_hash = ${state === 'kept' ? null : row.return_tx_hash}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}
      and state = ${row.state}
    returning ordinal`;
  return rows.length > 0;
}

/** What payments share: one transaction, and the transfer in it that is theirs. */
export type ReturnGroup = {
  chainId: number;
  returnTxHash: string;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
};

/** Notes with one transaction are decided one after the other, until the transaction ends. */
export async function lockGroup(tx: Tx, scope: Scope, { chainId, returnTxHash }: ReturnGroup): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${scope.partnerId} ${chainId} ${returnTxHash}`}, 0))`;
}

/** So many payments share one transaction at most: all of them are read whenever its money is shared out. */
const mostOfGroup = 500;

const inGroup = (tx: Tx, scope: Scope, group: ReturnGroup) => tx`
  b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.chain_id = ${group.chainId}
    and b.return_tx_hash = ${group.returnTxHash} and b.token_address = ${group.tokenAddress}
    and b.from_address = ${group.fromAddress} and b.to_address = ${group.toAddress}`;

/** Whether as many others as can be shared out among are noted with a transaction, which is locked; also those put back. */
export async function isGroupFull(tx: Tx, scope: Scope, group: ReturnGroup, own: TransferKey): Promise<boolean> {
  const [last] = await tx`
    select from returns b
    where ${inGroup(tx, scope, group)} and b.state in ('sent', 'confirmed', 'missing', 'kept')
      and (b.tx_hash, b.ordinal) <> (${own.txHash}, ${own.ordinal})
    offset ${mostOfGroup - 1} limit 1`;
  return last !== undefined;
}

export type GroupRow = { chain_id: string; tx_hash: string; ordinal: number; usdc_micro: string };

/**
 * The payments that a transaction may have given back to one payer, in the order of their notes.
 *
 * @param which `also kept`: after them those that were put back
 */
export function selectGroup(
  tx: Tx,
  scope: Scope,
  group: ReturnGroup,
  minedIn: number,
  which: 'taken' | 'also kept' = 'taken',
): Promise<GroupRow[]> {
  const states = ['sent', 'confirmed', 'missing', ...(which === 'also kept' ? ['kept'] : [])];
  return tx<GroupRow[]>`
    select b.chain_id, b.tx_hash, b.ordinal, b.usdc_micro from returns b
      left join transfers t on (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
        = (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
    where ${inGroup(tx, scope, group)} and b.state = any(${states}) and coalesce(t.block_number, 0) <= ${minedIn}
    order by b.state = 'kept', b.noted_at, b.tx_hash, b.ordinal limit ${mostOfGroup}`;
}

/** What a payment has of the transaction that is noted for it, in micro units; 0n for nothing. */
export type ReturnedShare = { key: TransferKey; micro: bigint };

/** Stores what payments have of a transaction, as far as it is noted for them; what stands so already is not written. */
export async function updateGiven(
  tx: Tx,
  scope: Scope,
  { chainId, returnTxHash }: Pick<ReturnGroup, 'chainId' | 'returnTxHash'>,
  shares: readonly ReturnedShare[],
): Promise<void> {
  await tx`
    update returns b set given_micro = s.micro
    from unnest(${shares.map(({ key }) => key.txHash)}::text[], ${shares.map(({ key }) => key.ordinal)}::int[],
      ${shares.map(({ micro }) => (micro === 0n ? null : micro.toString()))}::numeric[]) s (tx_hash, ordinal, micro)
    where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.chain_id = ${chainId}
      and b.tx_hash = s.tx_hash and b.ordinal = s.ordinal and b.return_tx_hash = ${returnTxHash}
      and b.given_micro is distinct from s.micro`;
}
