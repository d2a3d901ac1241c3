import type { Sql, Tx } from '../db/connection.ts';

/**
 * Whether a transfer that may pay a request `r` was read and is not matched yet. It has the request's amount or that of
 * a rest, it names the request, or somebody signed or decided that it is for the request.
 */
export const isArriving = (sql: Sql | Tx) => sql`
  exists (select from transfers t
    where t.partner_id = r.partner_id and t.test_mode = r.test_mode and t.judged_at is null
      and t.to_address = r.wallet_address
      and (t.value = r.usdc_micro
        or r.reference in (t.calldata_reference, t.charged_reference, substring(t.authorization_nonce for 16))
        or exists (select from reserved_rests s
          where s.partner_id = r.partner_id and s.test_mode = r.test_mode and s.request_id = r.id
            and s.usdc_micro = t.value)
        or exists (select from authorizations a
          where a.partner_id = r.partner_id and a.test_mode = r.test_mode and a.request_id = r.id
            and a.chain_id = t.chain_id and a.token_address = t.token_address and a.authorizer = t.from_address
            and a.nonce = t.authorization_nonce)
        or exists (select from kept_bindings k
          where k.partner_id = r.partner_id and k.test_mode = r.test_mode and k.request_id = r.id
            and (k.chain_id, k.tx_hash, k.ordinal) = (t.chain_id, t.tx_hash, t.ordinal))))`;
