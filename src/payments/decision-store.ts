import type { Scope, Tx } from '../db/connection.ts';
import type { Rule } from './rules.ts';
import { keyOf, type TransferKey, type TransferRow } from './transfers.ts';

/** Rules that a reorganisation does not undo: somebody signed for the transfer, or decided about it manually. */
export type DecidedRule = Extract<Rule, 'claim' | 'merchant'>;

/** A row of `kept_bindings`: a decision about a transfer that a reorganisation does not undo. */
export type KeptDecision = TransferKey & {
  partnerId: string;
  testMode: boolean;
  requestId: string;
  rule: DecidedRule;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
};

/** Keeps what was decided about a transfer that is gone; the latest decision counts. */
export async function upsertDecision(tx: Tx, decided: KeptDecision): Promise<void> {
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
 * The earlier decision about this transfer; null for none. The transfer must equal the one that was decided about, and
 * a merchant's decision counts only for money that is still theirs.
 */
export async function selectDecision(
  tx: Tx,
  scope: Scope,
  row: TransferRow,
): Promise<{ request_id: string; rule: DecidedRule } | null> {
  const { chainId, txHash, ordinal } = keyOf(row);
  const [decided] = await tx<{ request_id: string; rule: DecidedRule }[]>`
    select k.request_id, k.rule from kept_bindings k
      join requests r on (r.partner_id, r.test_mode, r.id) = (k.partner_id, k.test_mode, k.request_id)
    where k.partner_id = ${scope.partnerId} and k.test_mode = ${scope.testMode}
      and k.chain_id = ${chainId} and k.tx_hash = ${txHash} and k.ordinal = ${ordinal}
      and k.token_address = ${row.token_address} and k.from_address = ${row.from_address}
      and k.to_address = ${row.to_address} and k.value = ${row.value}::numeric
      and (k.rule <> 'merchant' or r.account_id = ${row.account_id})`;
  return decided ?? null;
}
