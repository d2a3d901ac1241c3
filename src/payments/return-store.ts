import type { Database, Scope, Tx } from '../db/connection.ts';
import { identifiers } from '../db/sql.ts';
import type { TransferKey } from './store.ts';

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
  state: Exclude<ReturnState, 'kept'>;
  given_micro: string | null;
};

/** Nothing was sent, as far as the network tells: the merchant sends it, or puts the payment back. */
export const openStates = ['returning', 'failed', 'missing'] as const;

/** True while a payment counts as given back, and not as taken for it only. */
export function standsReturned(row: Pick<ReturnRow, 'state'> | null): boolean {
  return row !== null && !(openStates as readonly string[]).includes(row.state);
}

const shown = (tx: Tx) => tx`
  b.chain_id, b.tx_hash, b.ordinal, b.request_id, b.to_address, b.usdc_micro, b.return_tx_hash, b.noted_at, b.state,
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
  const rows = await tx`
    update returns set return_tx_hash = ${note.returnTxHash}, state = ${note.state}, given_micro = null,
      noted_at = ${note.notedAt}, next_look_at = now()
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${key.chainId}
      and tx_hash = ${key.txHash} and ordinal = ${key.ordinal} and (state in ('returning', 'failed', 'missing', 'other')
        or (state = 'sent' and return_tx_hash = ${unknownHash} and given_micro is null))
    returning ordinal`;
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

/** A note whose transaction is to be looked for. */
export type DueReturn = {
  partner_id: string;
  test_mode: boolean;
  chain_id: string;
  tx_hash: string;
  ordinal: number;
  /** That was overpaid. */
  request_id: string | null;
  from_address: string;
  to_address: string;
  token_address: string;
  usdc_micro: string;
  return_tx_hash: string;
  noted_at: Date;
  state: 'sent' | 'missing' | 'kept';
  /** The block of the payment; null when it vanished. */
  block_number: string | null;
};

/**
 * The loop's look-up over all partners: takes notes that are due, so that nobody else takes them for a while. Partners take
 * turns, and so do the merchants of each. What is new is looked for every five seconds, then every minute, after two hours
 * every ten, after two days every six hours: until it is final, however late.
 */
export function claimReturns({ sql }: Database, limit: number): Promise<DueReturn[]> {
  const waiting = sql`state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null`;
  const key = (of: string) => sql`
    (${identifiers(of)}.partner_id, ${identifiers(of)}.test_mode, ${identifiers(of)}.chain_id, ${identifiers(of)}.tx_hash, ${identifiers(of)}.ordinal)`;
  return sql<DueReturn[]>`
    with recursive parties as (
      (select partner_id, account_id from returns where ${waiting} order by partner_id, account_id limit 1)
      union all
      select n.partner_id, n.account_id from parties p cross join lateral (
        select partner_id, account_id from returns
        where ${waiting} and (partner_id, account_id) > (p.partner_id, p.account_id)
        order by partner_id, account_id limit 1) n
    ), due as (
      select d.*, row_number() over (partition by d.partner_id, d.account_id order by d.next_look_at) as nth
      from parties p cross join lateral (
        select * from returns
        where ${waiting} and partner_id = p.partner_id and account_id = p.account_id and next_look_at <= now()
        order by next_look_at limit ${limit}) d
    ), turns as (
      select *, row_number() over (partition by partner_id order by nth, next_look_at) as turn from due
    ), next as (
      select * from turns order by turn, next_look_at limit ${limit}
    ), taken as (
      select b.partner_id, b.test_mode, b.chain_id, b.tx_hash, b.ordinal
      from returns b join next on ${key('b')} = ${key('next')}
      where b.next_look_at <= now() for update of b skip locked
    ), claimed as (
      update returns b set next_look_at = now() + case when b.noted_at > now() - interval '10 minutes' then interval '5 seconds'
        when b.noted_at > now() - interval '2 hours' then interval '1 minute'
        when b.noted_at > now() - interval '2 days' then interval '10 minutes' else interval '6 hours' end
      from taken where ${key('b')} = ${key('taken')}
      returning b.*
    )
    select c.partner_id, c.test_mode, c.chain_id, c.tx_hash, c.ordinal, c.request_id, c.from_address, c.to_address, c.token_address,
      c.usdc_micro, c.return_tx_hash, c.noted_at, c.state, t.block_number
    from claimed c left join transfers t on ${key('t')} = ${key('c')}`;
}

/** Has what no endpoint knows looked for after half as long again as it has been noted: anybody can note made-up hashes. */
export async function putOffReturn(tx: Tx, scope: Scope, row: DueReturn): Promise<void> {
  await tx`
    update returns
    set next_look_at = greatest(next_look_at, now() + least((now() - noted_at) / 2, interval '6 hours'))
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and chain_id = ${row.chain_id}
      and tx_hash = ${row.tx_hash} and ordinal = ${row.ordinal} and return_tx_hash = ${row.return_tx_hash}`;
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
