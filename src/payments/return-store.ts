import type { Database, Scope, Tx } from '../db/connection.ts';
import type { TransferKey } from './store.ts';

/** What is known of the transaction that gave a payment back; see the migration `0016_given_back.sql`. */
export type ReturnState = 'sent' | 'confirmed' | 'failed' | 'missing' | 'other';

/** A row of `returns`, as pages show it. */
export type ReturnRow = {
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  request_id: string | null;
  to_address: string;
  usdc_micro: string;
  return_tx_hash: string;
  noted_at: Date;
  state: ReturnState;
  given_micro: string | null;
};

/** True while a payment counts as given back: not after a transaction that failed, or was never found. */
export function standsReturned(row: Pick<ReturnRow, 'state'> | null): boolean {
  return row !== null && row.state !== 'failed' && row.state !== 'missing';
}

const shown = (tx: Tx) => tx`
  b.chain_id, b.tx_hash, b.ordinal, b.request_id, b.to_address, b.usdc_micro, b.return_tx_hash, b.noted_at, b.state,
  b.given_micro`;

/** What is noted of these transfers; those of which nothing is are left out. */
export function selectReturns(tx: Tx, scope: Scope, keys: TransferKey[]): Promise<ReturnRow[]> {
  const wanted = keys.map(({ chainId, txHash, ordinal }) => ({ chain_id: chainId, tx_hash: txHash, ordinal }));
  return tx<ReturnRow[]>`
    select ${shown(tx)} from returns b
      join json_to_recordset(${JSON.stringify(wanted)}::json) as w (chain_id bigint, tx_hash text, ordinal int)
        using (chain_id, tx_hash, ordinal)
    where b.partner_id = ${scope.partnerId} and b.test_mode = ${scope.testMode}`;
}

export async function selectReturn(tx: Tx, scope: Scope, key: TransferKey): Promise<ReturnRow | null> {
  const [row] = await selectReturns(tx, scope, [key]);
  return row ?? null;
}

export type NewReturn = TransferKey & {
  accountId: string;
  requestId: string | null;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  usdcMicro: bigint;
  returnTxHash: string;
  state: ReturnState;
  givenMicro: bigint | null;
  notedAt: Date;
};

/**
 * Notes what gave a payment back, also in place of a transaction that did not.
 *
 * @returns false when the payment counts as given back already
 * @throws PostgresError 23505 when the transaction gave back another payment
 */
export async function upsertReturn(tx: Tx, scope: Scope, note: NewReturn): Promise<boolean> {
  const rows = await tx`
    insert into returns as b (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, request_id, token_address,
      from_address, to_address, usdc_micro, return_tx_hash, state, given_micro, noted_at)
    values (${scope.partnerId}, ${scope.testMode}, ${note.chainId}, ${note.txHash}, ${note.ordinal}, ${note.accountId},
      ${note.requestId}, ${note.tokenAddress}, ${note.fromAddress}, ${note.toAddress}, ${note.usdcMicro.toString()},
      ${note.returnTxHash}, ${note.state}, ${note.givenMicro?.toString() ?? null}, ${note.notedAt})
    on conflict (partner_id, test_mode, chain_id, tx_hash, ordinal) do update
      set request_id = excluded.request_id, usdc_micro = excluded.usdc_micro, return_tx_hash = excluded.return_tx_hash,
        state = excluded.state, given_micro = excluded.given_micro, noted_at = excluded.noted_at, next_look_at = now()
      where b.state in ('failed', 'missing', 'other')
    returning b.ordinal`;
  return rows.length > 0;
}

/** A note whose transaction is to be looked for. */
export type DueReturn = {
  partner_id: string;
  test_mode: boolean;
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  from_address: string;
  to_address: string;
  token_address: string;
  usdc_micro: string;
  return_tx_hash: string;
  given_micro: string | null;
  noted_at: Date;
  /** The block of the payment; null when it vanished. */
  block_number: string | null;
};

/**
 * The loop's look-up over all partners: takes notes that are due, so that nobody else takes them for a while. What is new
 * is looked for every five seconds, later every minute, and after two hours every ten.
 */
export function claimReturns(db: Database, limit: number): Promise<DueReturn[]> {
  return db.sql<DueReturn[]>`
    with due as (
      select partner_id, test_mode, chain_id, tx_hash, ordinal from returns
      where state = 'sent' and next_look_at <= now() order by next_look_at limit ${limit} for update skip locked
    ), claimed as (
      update returns b set next_look_at = now() + case when b.noted_at > now() - interval '10 minutes' then interval '5 seconds'
        when b.noted_at > now() - interval '2 hours' then interval '1 minute' else interval '10 minutes' end
      from due where (b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal)
        = (due.partner_id, due.test_mode, due.chain_id, due.tx_hash, due.ordinal)
      returning b.*
    )
    select c.partner_id, c.test_mode, c.chain_id, c.tx_hash, c.ordinal, c.from_address, c.to_address, c.token_address,
      c.usdc_micro, c.return_tx_hash, c.given_micro, c.noted_at, t.block_number
    from claimed c left join transfers t on (t.partner_id, t.test_mode, t.chain_id, t.tx_hash, t.ordinal)
      = (c.partner_id, c.test_mode, c.chain_id, c.tx_hash, c.ordinal)`;
}

/** Stores what the chain says of a note, if it still stands as it was looked at. */
export async function updateReturn(
  tx: Tx,
  scope: Scope,
  row: DueReturn,
  state: ReturnState,
  givenMicro: bigint | null,
): Promise<void> {
  await tx`
    update returns set state = ${state}, given_micro = ${givenMicro?.toString() ?? null}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}
      and state = 'sent'`;
}
