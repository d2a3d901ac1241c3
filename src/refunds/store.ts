import type { Scope, Tx } from '../db/connection.ts';
import { fromRefundsOf, type TransferKey } from '../payments/transfers.ts';
import { refundedStates } from '../requests/refunded.ts';
import type { DueRefund } from './queue-store.ts';

/**
 * What is known of a refund: that it was started, then the recorded transaction; see the migrations
 * `0016_given_back.sql` and `0027_taken_before_given_back.sql`. Stored names say "return" for a refund, "given" for
 * refunded and "noted" for recorded; `returning` is a started refund, `kept` a cancelled one.
 */
export type RefundState = 'returning' | 'sent' | 'confirmed' | 'failed' | 'missing' | 'other' | 'kept';

/** An active row of `returns`, as pages show it: its payment is applied to no request. */
export type RefundRow = {
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  request_id: string | null;
  to_address: string;
  usdc_micro: string;
  /** Null while `returning`. */
  return_tx_hash: string | null;
  noted_at: Date;
  /** When `return_tx_hash` replaced another hash; null if it did not. */
  replaced_at: Date | null;
  state: Exclude<RefundState, 'kept'>;
  given_micro: string | null;
};

/** Nothing was sent, as far as the network shows: the merchant must send it, or cancel the refund. */
const openStates = ['returning', 'failed', 'missing'] as const;

/** True while a payment counts as refunded, which a refund that was only started does not. */
export function isRefundSent(row: Pick<RefundRow, 'state'> | null): boolean {
  return row !== null && (refundedStates as readonly string[]).includes(row.state);
}

const shown = (tx: Tx) => tx`
  b.chain_id, b.tx_hash, b.ordinal, b.request_id, b.to_address, b.usdc_micro, b.return_tx_hash, b.noted_at, b.replaced_at, b.state,
  b.given_micro`;

/** The refunds of these transfers; those that have none are left out. */
export function selectRefunds(tx: Tx, scope: Scope, keys: TransferKey[]): Promise<RefundRow[]> {
  return tx<RefundRow[]>`select ${shown(tx)} ${fromRefundsOf(tx, scope, keys)}`;
}

/** A payment's refund; null when none was started, or it was cancelled. */
export async function selectRefund(tx: Tx, scope: Scope, key: TransferKey): Promise<RefundRow | null> {
  const [row] = await selectRefunds(tx, scope, [key]);
  return row ?? null;
}

/** A refund that is started. */
export type NewRefund = TransferKey & {
  accountId: string;
  requestId: string | null;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  usdcMicro: bigint;
  recordedAt: Date;
};

/**
 * Starts the refund of a locked payment, before anything is sent. A transaction recorded for a cancelled refund that
 * could still be mined is recorded again.
 *
 * @returns false when it is already started
 */
export async function insertRefund(tx: Tx, scope: Scope, refund: NewRefund): Promise<boolean> {
  const rows = await tx`
    insert into returns as b (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, request_id, token_address,
      from_address, to_address, usdc_micro, state, noted_at)
    values (${scope.partnerId}, ${scope.testMode}, ${refund.chainId}, ${refund.txHash}, ${refund.ordinal}, ${refund.accountId},
      ${refund.requestId}, ${refund.tokenAddress}, ${refund.fromAddress}, ${refund.toAddress}, ${refund.usdcMicro.toString()},
      'returning', ${refund.recordedAt})
    on conflict (partner_id, test_mode, chain_id, tx_hash, ordinal) do update
      set request_id = excluded.request_id, usdc_micro = excluded.usdc_micro, token_address = excluded.token_address,
        from_address = excluded.from_address, to_address = excluded.to_address,
        noted_at = case when b.return_tx_hash is null then excluded.noted_at else b.noted_at end,
        state = case when b.return_tx_hash is null then 'returning' else 'missing' end
      where b.state = 'kept'
    returning b.ordinal`;
  return rows.length > 0;
}

/** A transaction that was reported to refund a payment. */
export type RefundTransaction = { refundTxHash: string; state: 'sent' | 'confirmed' | 'other'; recordedAt: Date };

/**
 * Records a transaction for a started refund, whose payment is locked, or replaces one that did not refund it.
 *
 * @param unknownHash the recorded transaction that no endpoint knows: it is replaced too, unless it was seen or
 * replaced meanwhile
 * @returns false when no refund is started, or it already counts as made
 */
export async function updateRefundTransaction(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  recorded: RefundTransaction,
  unknownHash: string | null,
): Promise<boolean> {
  const open = tx`(b.state in ('returning', 'failed', 'missing', 'other')
    or (b.state = 'sent' and b.return_tx_hash = ${unknownHash} and b.given_micro is null))`;
  return replaceTransaction(tx, scope, key, recorded, open);
}

/**
 * Records a replaced transaction again, if nothing is known to have refunded the payment. The payment is locked, and
 * applied to no request.
 *
 * @returns false if something has refunded it, or its merchant says so
 */
export async function restoreReplaced(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  recorded: RefundTransaction,
): Promise<boolean> {
  const open = tx`(b.state in ('returning', 'failed', 'missing', 'kept') or (b.state = 'sent' and b.given_micro is null))`;
  return replaceTransaction(tx, scope, key, recorded, open);
}

/**
 * A replaced transaction that could still be mined is still followed. A refund's time is that of its first transaction.
 */
async function replaceTransaction(
  tx: Tx,
  scope: Scope,
  key: TransferKey,
  recorded: RefundTransaction,
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
      from old where state in ('sent', 'missing', 'kept') and return_tx_hash <> ${recorded.refundTxHash}
        and num_nulls(from_address, token_address) = 0
      on conflict do nothing
    ), recalled as (
      delete from returns_replaced b where ${ofPayment} and b.return_tx_hash = ${recorded.refundTxHash} and exists (select from old)
    )
    update returns b set return_tx_hash = ${recorded.refundTxHash}, state = ${recorded.state}, given_micro = null,
      noted_at = case when old.state = 'sent' then old.noted_at else ${recorded.recordedAt} end,
      replaced_at = case when old.state = 'sent' then ${recorded.recordedAt}::timestamptz end, next_look_at = now()
    from old where ${ofPayment} returning b.ordinal`;
  return rows.length > 0;
}

/**
 * Cancels a refund, because nothing was sent. A transaction that no endpoint knew is still followed.
 *
 * @returns false when no refund is started, or it counts as made
 */
export async function updateCancelled(tx: Tx, scope: Scope, key: TransferKey): Promise<boolean> {
  const rows = await tx`
    update returns set state = 'kept', return_tx_hash = case when state = 'missing' then return_tx_hash end
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${key.chainId}
      and tx_hash = ${key.txHash} and ordinal = ${key.ordinal} and state = any(${[...openStates]})
    returning ordinal`;
  return rows.length > 0;
}

/**
 * Stores what the chain reports about a refund, if it has not changed since the lookup. Stops following a transaction
 * of a cancelled refund that can no longer be mined.
 */
export async function updateRefundState(tx: Tx, scope: Scope, row: DueRefund, state: RefundState): Promise<boolean> {
  const rows = await tx`
    update returns set state = ${state}, return_tx_hash = ${state === 'kept' ? null : row.return_tx_hash}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}
      and state = ${row.state}
    returning ordinal`;
  return rows.length > 0;
}

/** What payments with one refund transaction share: the transaction, and their transfer in it. */
export type RefundGroup = {
  chainId: number;
  refundTxHash: string;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
};

/**
 * Locks refunds that share one transaction until the database transaction ends, so that they are decided one after
 * another.
 */
export async function lockGroup(tx: Tx, scope: Scope, { chainId, refundTxHash }: RefundGroup): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`${scope.partnerId} ${chainId} ${refundTxHash}`}, 0))`;
}

/** How many payments may share one transaction: all of them are read whenever its money is divided. */
const maxOfGroup = 500;

const inGroup = (tx: Tx, scope: Scope, group: RefundGroup) => tx`
  b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.chain_id = ${group.chainId}
    and b.return_tx_hash = ${group.refundTxHash} and b.token_address = ${group.tokenAddress}
    and b.from_address = ${group.fromAddress} and b.to_address = ${group.toAddress}`;

/**
 * Whether a locked transaction is already recorded for the maximum number of other payments, including cancelled
 * refunds.
 */
export async function isGroupFull(tx: Tx, scope: Scope, group: RefundGroup, own: TransferKey): Promise<boolean> {
  const [last] = await tx`
    select from returns b
    where ${inGroup(tx, scope, group)} and b.state in ('sent', 'confirmed', 'missing', 'kept')
      and (b.tx_hash, b.ordinal) <> (${own.txHash}, ${own.ordinal})
    offset ${maxOfGroup - 1} limit 1`;
  return last !== undefined;
}

export type GroupRow = { chain_id: string; tx_hash: string; ordinal: number; usdc_micro: string };

/**
 * The payments of one payer that a transaction may have refunded, in the order of recording.
 *
 * @param which `with cancelled`: followed by those whose refund was cancelled
 */
export function selectGroup(
  tx: Tx,
  scope: Scope,
  group: RefundGroup,
  minedIn: number,
  which: 'standing' | 'with cancelled' = 'standing',
): Promise<GroupRow[]> {
  const states = ['sent', 'confirmed', 'missing', ...(which === 'with cancelled' ? ['kept'] : [])];
  return tx<GroupRow[]>`
    select b.chain_id, b.tx_hash, b.ordinal, b.usdc_micro from returns b
      left join transfers t on (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
        = (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
    where ${inGroup(tx, scope, group)} and b.state = any(${states}) and coalesce(t.block_number, 0) <= ${minedIn}
    order by b.state = 'kept', b.noted_at, b.tx_hash, b.ordinal limit ${maxOfGroup}`;
}

/** A payment's part of the transaction recorded for it, in micro units; 0n for none. */
export type RefundShare = { key: TransferKey; micro: bigint };

/**
 * Stores each payment's part of a transaction, if the transaction is recorded for it; unchanged values are not written.
 */
export async function updateRefundedMicro(
  tx: Tx,
  scope: Scope,
  { chainId, refundTxHash }: Pick<RefundGroup, 'chainId' | 'refundTxHash'>,
  shares: readonly RefundShare[],
): Promise<void> {
  await tx`
    update returns b set given_micro = s.micro
    from unnest(${shares.map(({ key }) => key.txHash)}::text[], ${shares.map(({ key }) => key.ordinal)}::int[],
      ${shares.map(({ micro }) => (micro === 0n ? null : micro.toString()))}::numeric[]) s (tx_hash, ordinal, micro)
    where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode} and b.chain_id = ${chainId}
      and b.tx_hash = s.tx_hash and b.ordinal = s.ordinal and b.return_tx_hash = ${refundTxHash}
      and b.given_micro is distinct from s.micro`;
}
