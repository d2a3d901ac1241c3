import type { Sql } from '../../src/db/connection.ts';

/** What happens to requests after their creation, in the statements' order; the share of requests that each concerns. */
export type Step = { name: string; share: number; run(sql: Sql, part: Part): Promise<unknown> };
/** A part of the requests: those whose number modulo `of` is `at`. */
export type Part = { of: number; at: number };

/** So many of ten requests are paid; the others expire. */
export const paidOfTen = 7;
const part = (sql: Sql, { of, at }: Part) => sql`
  select partner_id, test_mode, id, account_id, wallet_address, usdc_micro, number
  from numbered where number % ${of}::int = ${at}::int`;
const paid = (sql: Sql, p: Part) => sql`(select * from (${part(sql, p)}) n where number % 10 < ${paidOfTen})`;
const hash = (sql: Sql) => sql`'0x' || lpad(to_hex(r.number), 64, '0')`;

const headers = JSON.stringify({
  'content-type': 'application/json',
  'user-agent': 'Quittance/1',
  'webhook-id': 'evt_00000000-0000-4000-8000-000000000000',
  'webhook-timestamp': '1790000000',
  'webhook-signature': `v1,${'a'.repeat(44)}`,
  'x-signature': `v1=${'a'.repeat(64)},t=1790000000`,
});
const body = (sql: Sql) => sql`json_build_object('type', 'payment.proof_verified', 'request_id', r.id,
  'account_id', r.account_id, 'delivery_id', r.id, 'usdc_micro', r.usdc_micro, 'tx_hash', ${hash(sql)},
  'verified_at', now(), 'proof_status', 'verified', 'chain_id', 8453)::text`;

/** The life of a request in the rows and columns that the service writes, one statement for many requests each. */
export const steps: Step[] = [
  {
    name: 'page opened',
    share: paidOfTen / 10,
    run: (sql, p) => sql`
      update requests q set status = 'opened', opened_at = now() from ${paid(sql, p)} r
      where (q.partner_id, q.test_mode, q.id) = (r.partner_id, r.test_mode, r.id)`,
  },
  {
    name: 'transfer read',
    share: paidOfTen / 10,
    run: (sql, p) => sql`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address,
        from_address, to_address, value, partner_id, test_mode, account_id, log_index)
      select 8453, ${hash(sql)}, 0, 1000000 + number / 40, '0x' || lpad(to_hex(number / 40), 64, '0'), now(),
        '0x' || lpad('1', 40, '0'), '0x' || lpad(to_hex(number % 100000), 40, '1'), wallet_address, usdc_micro,
        partner_id, test_mode, account_id, 1
      from ${paid(sql, p)} r`,
  },
  {
    name: 'payment matched',
    share: paidOfTen / 10,
    run: (sql, p) => sql`
      with matched as (
        update transfers t set request_id = r.id, rule = 'amount', counts = true, judged_at = now() from ${paid(sql, p)} r
        where (t.chain_id, t.tx_hash, t.ordinal) = (8453, ${hash(sql)}, 0) returning t.request_id, t.partner_id, t.test_mode)
      update requests q set proof_status = 'attached' from matched m
      where (q.partner_id, q.test_mode, q.id) = (m.partner_id, m.test_mode, m.request_id)`,
  },
  {
    name: 'payment verified, event queued',
    share: paidOfTen / 10,
    run: (sql, p) => sql`
      with final as (
        update transfers t set final_at = now() from ${paid(sql, p)} r
        where (t.chain_id, t.tx_hash, t.ordinal) = (8453, ${hash(sql)}, 0) returning t.request_id, t.tx_hash, t.from_address,
          t.partner_id, t.test_mode, r.account_id, r.usdc_micro, r.number
      ), verified as (
        update requests q set proof_status = 'verified', proof_verified_at = now(), tx_hash = f.tx_hash,
          payer_address = f.from_address, asset_id = 'eip155:8453/erc20:0x1'
        from final f where (q.partner_id, q.test_mode, q.id) = (f.partner_id, f.test_mode, f.request_id))
      insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
      select partner_id, test_mode, gen_random_uuid(), id, 'payment.proof_verified', ${body(sql)}, now()
      from (select f.*, f.request_id as id from final f) r`,
  },
  {
    name: 'event delivered',
    share: paidOfTen / 10,
    run: (sql, p) => sql`
      with delivered as (
        update webhook_deliveries d set state = 'delivered', attempts = 1, delivered_at = now() from ${paid(sql, p)} r
        where (d.partner_id, d.test_mode, d.request_id) = (r.partner_id, r.test_mode, r.id)
        returning d.partner_id, d.test_mode, d.id)
      insert into webhook_attempts (partner_id, test_mode, delivery_id, id, url, started_at, duration_ms, status_code,
        request_headers, response_headers, response_body)
      select partner_id, test_mode, id, gen_random_uuid(), 'https://tills.example/hooks/quittance', now(), 120, 200,
        ${headers}::json, '{"content-type":"application/json","date":"Mon, 01 Jan 2029 00:00:00 GMT"}', '{"ok":true}'
      from delivered`,
  },
  {
    name: 'request expired',
    share: 1 - paidOfTen / 10,
    run: (sql, p) => sql`
      update requests q set status = 'expired' from (${part(sql, p)}) r
      where r.number % 10 >= ${paidOfTen}
        and (q.partner_id, q.test_mode, q.id) = (r.partner_id, r.test_mode, r.id)`,
  },
];
