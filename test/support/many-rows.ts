import type { Database, Scope } from '../../src/db/connection.ts';
import { openOne } from './database.ts';
import { makeMerchant, makeRequest } from './fixtures.ts';

/** How many rows there are of everything that is listed. */
export const many = 100_000;

/**
 * A partner that holds nearly all rows, and a merchant that holds most of them. The common states divide the time: one
 * half is older, the other newer. Every other state has a few rows in the middle.
 */
export async function makeCrowd(
  db: Database,
  url: string,
  scope: Scope,
): Promise<{ accountId: string; otherId: string }> {
  const { partnerId } = scope;
  const merchant = await makeMerchant(db, scope);
  const other = await makeMerchant(db, scope);
  const model = await makeRequest(db, scope, merchant, { customerEmail: 'ada@example.com' });
  // Without triggers and foreign keys, and without a statement timeout.
  const sql = openOne(url, { session_replication_role: 'replica', statement_timeout: 0 });
  const few = sql`n between ${many / 2} and ${many / 2 + 3}::int`;
  const old = sql`n > ${many / 2}::int`;
  const ago = sql`now() - n * interval '1 second'`;
  const numbers = sql`generate_series(1, ${many}::int) n`;

  await sql`
    insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate, payment_mode,
      customer_email, metadata, wallet_address, reference, start_blocks, created_at, expires_at, voided_at, status,
      proof_status, proof_verified_at, tx_hash, payer_address)
    select partner_id, true, gen_random_uuid(), case when n % 1000 = 7 then ${other.id}::uuid else account_id end, 1250, 'EUR',
      usdc_micro, false, rate, 'pos', customer_email, '{}', wallet_address, uuid_send(gen_random_uuid()), '{}', ${ago}, ${ago},
      now(), case when n = ${many / 2}::int then 'opened' when n = ${many / 2 + 1}::int then 'voided'
        when ${old} then 'expired' else 'requested' end,
      case when n = ${many / 2 + 2}::int then 'attached' when n <= ${many / 2}::int - 1 then 'verified' else 'none' end,
      case when n <= ${many / 2}::int - 1 then ${ago} end, '0x' || lpad(to_hex(n), 64, '0'), '0x'
    from requests, ${numbers} where id = ${model.id}`;
  const picked = sql`(select * from requests order by created_at offset 5 limit 3) r`;
  await sql`insert into underpaid_requests select partner_id, test_mode, id from ${picked} on conflict do nothing`;
  await sql`insert into differing_replays select partner_id, test_mode, id, 1, now(), '{memo}' from ${picked}`;
  await sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, request_id, counts, judged_at, final_at)
    select 31337, tx_hash, 0, 1, '0x', created_at, '0x', '0x', wallet_address, usdc_micro, partner_id, test_mode, account_id,
      id, true, now(), now() from requests where proof_status = 'verified'`;
  await sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, candidate_request_id, judged_at)
    select 31337, '0xf' || lpad(to_hex(n), 63, '0'), 0, 1, '0x', date_trunc('second', ${ago}), '0x', '0x', ${merchant.wallet},
      5, ${partnerId}, true, case when n % 1000 = 7 then ${other.id}::uuid else ${merchant.id}::uuid end,
      case when ${few} then 'late' when n = 1 then 'already_paid' when ${old} then 'wrong_token' end,
      case when ${few} or n = 1 then ${model.id}::uuid end, now() from ${numbers}`;
  await sql`
    insert into merchants (partner_id, test_mode, id, business_name, email, app_mode, display_currency, disabled_by_partner,
      disabled_by_operator, wallet_signed_at, terms_version, terms_accepted_at, onboarded_at, created_at)
    select ${partnerId}, true, gen_random_uuid(), 'Shop ' || md5(n::text), md5(n::text) || '@example.com', 'business', 'EUR',
      ${few}, n = 9, now(), case when ${old} then '1' end, case when ${old} then now() end,
      case when ${old} then now() end, ${ago}
    from ${numbers}`;
  await sql`
    insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, state, attempts, next_attempt_at,
      created_at)
    select partner_id, test_mode, gen_random_uuid(), id, 'payment.verified', '{}',
      case when n between ${many / 2} and ${many / 2 + 3}::int then 'waiting' when n > ${many / 2}::int then 'exhausted' else 'delivered' end,
      case when n = ${many / 2}::int then 0 else 1 end, now(), created_at
    from (select *, row_number() over (order by created_at desc) as n from requests) r`;
  await sql`
    insert into audit_log (partner_id, number, at, actor_kind, actor_id, actor_name, action, object_kind, object_id, details,
      hash)
    select ${partnerId}, n, now() - (${many}::int - n) * interval '1 minute', 'operator', null,
      case when ${few} then 'ada@example.com' when ${old} then 'bo@example.com' else 'cy@example.com' end,
      case when ${few} then 'key.revoked' when ${old} then 'merchant.disabled' else 'merchant.enabled' end, 'merchant', '1',
      '{}', '\\x00' from ${numbers}`;
  await sql`
    insert into users (id, partner_id, email, role, created_at, disabled_at)
    select gen_random_uuid(), ${partnerId}, md5(n::text) || '@example.com', 'viewer', now(),
      case when ${few} then now() end from ${numbers}`;
  await sql`
    insert into plans (partner_id, test_mode, id, account_id, form_key, fiat_int, fiat_code, language, metadata, period, every,
      first_on, state, created_at, ended_at, name, customer_name, next_on, due_at, failure, failed_at)
    select ${partnerId}, true, gen_random_uuid(),
      case when n % 1000 = 7 then ${other.id}::uuid else ${merchant.id}::uuid end, n::text, 1, 'EUR', 'en', '{}', 'day', 1, current_date,
      s.state, ${ago}, case when s.state = 'ended' then now() end, 'Plan', 'Ada', current_date,
      case when s.state = 'active' then now() end, case when n = ${many / 2}::int then 'rate_unavailable' end,
      case when n = ${many / 2}::int then now() - interval '9 days' end
    from ${numbers}, lateral (select case when n = ${many / 2}::int then 'active' when ${few} then 'paused' when ${old} then 'ended'
      when n <= 5 then 'active' else 'ended' end as state) s`;
  await sql`
    insert into receipts (partner_id, test_mode, request_id, channel, created_at, attempts, next_attempt_at, done_at)
    select partner_id, test_mode, id, 'mail', created_at, 1,
      case when proof_status = 'attached' then 'infinity' else now() end,
      case when proof_status <> 'attached' then now() end
    from requests`;
  await makeOthers(sql);
  await sql`vacuum analyze`;
  await sql.end();
  return { accountId: merchant.id, otherId: other.id };
}

/**
 * Many partners and merchants with few rows each. A plan for all of them estimates by the average, and takes a partner
 * and its merchant for independent of each other: one row for every index that begins with both.
 */
async function makeOthers(sql: ReturnType<typeof openOne>): Promise<void> {
  const [partner, account] = [sql`md5('partner ' || n % 400)::uuid`, sql`md5('merchant ' || n % 1200)::uuid`];
  const from = sql`requests, generate_series(1, 3600) n where requests.id = (select id from requests limit 1)`;
  const at = sql`now() - n * interval '1 minute'`;
  await sql`
    insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved, rate,
      payment_mode, metadata, wallet_address, reference, start_blocks, created_at, expires_at, status)
    select ${partner}, true, gen_random_uuid(), ${account}, 'key ' || n, 1250, 'EUR', usdc_micro, false, rate, 'pos', '{}', '0x' || n % 1200,
      uuid_send(gen_random_uuid()), '{}', ${at}, ${at}, 'expired' from ${from}`;
  await sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, judged_at)
    select 31337, '0xe' || lpad(to_hex(n), 63, '0'), 0, 1, '0x', ${at}, '0x', '0x', '0x' || n % 1200, 5, ${partner}, true, ${account},
      'no_match', now() from ${from}`;
  await sql`
    insert into plans (partner_id, test_mode, id, account_id, form_key, fiat_int, fiat_code, language, metadata, period, every,
      first_on, state, created_at, ended_at, name, customer_name, next_on)
    select ${partner}, true, gen_random_uuid(), ${account}, n::text, 1, 'EUR', 'en', '{}', 'day', 1, current_date, 'ended', ${at},
      now(), 'Plan', 'Ada', current_date from ${from}`;
  await sql`
    insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, created_at)
    select distinct on (n % 1200) ${partner}, true, ${account}, 'Little ' || n, 'business', 'EUR', ${at} from ${from}`;
}
