import type { Sql } from '../src/db/connection.ts';
import { prefixOf, shape } from './fixtures.ts';

/** The size of a part, because a statement of the service may take at most 30 seconds. */
const part = 10_000;

/**
 * Inserts requests from the oldest to the newest, five seconds apart. Half of them belong to partner 0, and half of
 * these to its merchant 0; the others are spread over all partners. Most have expired; a tenth is paid, a tenth open.
 */
export async function makeRequests(sql: Sql, count: number, from = 0): Promise<void> {
  for (let first = from; first < count; first += part) {
    await insertPart(sql, first, Math.min(count, first + part) - 1, count);
    if (first % 100_000 === 0) process.stdout.write(`  ${first.toLocaleString('en')} requests …\n`);
  }
}

/** Inserts further merchants, until there are `count`. Like the first, merchant `n` belongs to partner `n mod 500`. */
export async function makeMerchants(sql: Sql, count: number): Promise<void> {
  for (let first = shape.merchants; first < count; first += part) {
    await sql`
      insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, wallet_address,
        wallet_signed_at, onboarded_at, terms_version, terms_accepted_at, created_at)
      select (${prefixOf('a')} || lpad((n % ${shape.partners}::int)::text, 12, '0'))::uuid, true,
        (${prefixOf('b')} || lpad(n::text, 12, '0'))::uuid, 'Merchant ' || n, 'business', 'EUR',
        '0x' || lpad(to_hex(n), 40, '0'), now(), now(), '1', now(), now() + n * interval '1 ms'
      from generate_series(${first}::int, ${Math.min(count, first + part) - 1}::int) n`;
  }
}

const insertPart = (sql: Sql, first: number, last: number, count: number) => sql`
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved, rate,
    payment_mode, memo, metadata, wallet_address, reference, start_blocks, created_at, expires_at, status, opened_at,
    voided_at, proof_status, tx_hash, payer_address, proof_verified_at)
  select m.partner_id, true, md5('request ' || n)::uuid, m.id, 'key-' || n, 100 + n % 5000, 'EUR', 1000000 + n % 50000000,
    false, '0.92', 'pos', 'Table ' || n % 40, '{}', m.wallet_address, decode(lpad(to_hex(n), 32, '0'), 'hex'), '{}',
    at, case when n % 20 = 7 then now() + interval '1 day' else at + interval '15 minutes' end, status,
    case when n % 3 = 0 then at end, case status when 'voided' then at end,
    proof, case when proof <> 'none' then '0x' || lpad(to_hex(n), 64, '0') end,
    case when proof <> 'none' then '0x' || repeat('ab', 20) end, case proof when 'verified' then at end
  from generate_series(${first}::int, ${last}::int) n
  cross join lateral (select
    now() - (${count}::int - n) * interval '5 seconds' as at,
    case n % 20 when 2 then 'opened' when 3 then 'opened' when 4 then 'requested' when 7 then 'requested'
      when 5 then 'voided' when 9 then 'voided' else 'expired' end as status,
    case n % 20 when 2 then 'verified' when 3 then 'verified' when 4 then 'attached' else 'none' end as proof,
    case n % 4 when 0 then 0 when 2 then ${shape.partners}::int * (1 + n / 4 % 4) else n % ${shape.merchants}::int end as merchant
  ) r
  join merchants m on m.id = (${prefixOf('b')} || lpad(merchant::text, 12, '0'))::uuid and m.test_mode`;
