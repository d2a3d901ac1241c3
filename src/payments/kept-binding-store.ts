import type { Tx } from '../db/connection.ts';
import type { Rule } from './rules.ts';
import type { TransferKey, TransferRow } from './transfers.ts';

/** Rules that a reorganisation does not undo: somebody signed for the transfer, or decided about it manually. */
export type KeptRule = Extract<Rule, 'claim' | 'merchant'>;

/** A row of `kept_bindings`: a decision about a transfer that a reorganisation does not undo. */
export type KeptBinding = TransferKey & {
  partnerId: string;
  testMode: boolean;
  requestId: string;
  rule: KeptRule;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
};

/** Keeps the decision about a transfer that was removed; the latest decision counts. */
export async function upsertKeptBinding(tx: Tx, decided: KeptBinding): Promise<void> {
  await tx`
    insert into kept_bindings (chain_id, tx_hash, ordinal, partner_id, test_mode, request_id, rule, token_address,
      from_address, to_address, value)
    values (${decided.chainId}, ${decided.txHash}, ${decided.ordinal}, ${decided.partnerId}, ${decided.testMode}, ${decided.requestId},
      ${decided.rule}, ${decided.tokenAddress}, ${decided.fromAddress}, ${decided.toAddress}, ${decided.value.toString()})
    on conflict (chain_id, tx_hash, ordinal) do update
      set partner_id = excluded.partner_id, test_mode = excluded.test_mode, request_id = excluded.request_id,
        rule = excluded.rule, token_address = excluded.token_address, from_address = excluded.from_address,
        to_address = excluded.to_address, value = excluded.value`;
}

/**
 * The earlier decisions about these transfers, by the index of each. A transfer must equal the one that was decided
 * about, and a merchant's decision counts only for money that is still theirs.
 */
export async function selectKeptBindings(
  tx: Tx,
  rows: readonly TransferRow[],
): Promise<{ place: number; request_id: string; rule: KeptRule }[]> {
  const wanted = rows.map((row, place) => {
    const { partner_id, test_mode, chain_id, tx_hash, ordinal } = row;
    const { token_address, from_address, to_address, value, account_id } = row;
    const named = { place, partner_id, test_mode, chain_id, tx_hash, ordinal };
    return { ...named, token_address, from_address, to_address, value, account_id };
  });
  return tx<{ place: number; request_id: string; rule: KeptRule }[]>`
    select w.place, k.request_id, k.rule
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (place int, partner_id uuid, test_mode boolean,
        chain_id bigint, tx_hash text, ordinal int, token_address text, from_address text, to_address text,
        value numeric, account_id uuid)
      join kept_bindings k on (k.chain_id, k.tx_hash, k.ordinal, k.partner_id, k.test_mode)
        = (w.chain_id, w.tx_hash, w.ordinal, w.partner_id, w.test_mode)
      join requests r on (r.partner_id, r.test_mode, r.id) = (k.partner_id, k.test_mode, k.request_id)
    where (k.token_address, k.from_address, k.to_address, k.value)
        = (w.token_address, w.from_address, w.to_address, w.value)
      and (k.rule <> 'merchant' or r.account_id = w.account_id)`;
}
