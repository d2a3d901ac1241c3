import { randomBytes, randomUUID } from 'node:crypto';
import { callRpc, type Hex, toHex } from '../src/chain/rpc.ts';
import type { ChainConfig } from '../src/config/chains.ts';
import type { Sql } from '../src/db/connection.ts';
import { fund, transferCall } from '../src/sandbox/wallet.ts';
import { prefixOf } from './fixtures.ts';

/** Test mode has this many partners and watched wallets; live mode has one wallet. */
export const verifyShape = { partners: 500, wallets: 100_000, rows: 60_000 };

/** A chain with the wallets that are paid on it, by number. */
export type PaidChain = { chain: ChainConfig; url: string; testMode: boolean; wallets: number };

const sender: Hex = `0x${'5e'.repeat(20)}`;
const walletOf = (number: number): Hex => `0x${'ee'.repeat(4)}${number.toString(16).padStart(32, '0')}`;
const partnerOf = (number: number) => `${prefixOf('a')}${String(number % verifyShape.partners).padStart(12, '0')}`;
const merchantOf = (number: number, testMode: boolean) =>
  `${prefixOf(testMode ? 'b' : 'd')}${String(number).padStart(12, '0')}`;

/** Fills an empty database with partners, merchants and their watched wallets. */
export async function makeWallets(sql: Sql): Promise<void> {
  const { partners, wallets } = verifyShape;
  await sql`
    insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes)
    select (${prefixOf('a')} || lpad(n::text, 12, '0'))::uuid, 'bench-' || n, 'Partner ' || n, 'EUR', '{5,15,60}', 15
    from generate_series(0, ${partners}::int - 1) n`;
  for (const testMode of [true, false]) {
    const most = testMode ? wallets : 1;
    for (let from = 0; from < most; from += 20_000) {
      await sql`
        insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, wallet_address,
          wallet_signed_at, onboarded_at, terms_version, terms_accepted_at, created_at)
        select (${prefixOf('a')} || lpad((n % ${partners}::int)::text, 12, '0'))::uuid, ${testMode},
          (${prefixOf(testMode ? 'b' : 'd')} || lpad(n::text, 12, '0'))::uuid, 'Merchant ' || n, 'business', 'EUR',
          '0xeeeeeeee' || lpad(to_hex(n), 32, '0'), now(), now(), '1', now(), now() + n * interval '1 ms'
        from generate_series(${from}::int, least(${from}::int + 20000, ${most}::int) - 1) n`;
    }
  }
  await sql`
    insert into watched_wallets
    select wallet_address, partner_id, test_mode, id, now() + interval '60 days', now() - interval '1 minute' from merchants`;
}

let made = 0;

/** Requests as a create stores them, with their reserved amounts; for these merchants, by number. */
async function makeRequests(sql: Sql, merchants: readonly number[], testMode: boolean) {
  const rows = merchants.map((number) => {
    const place = made++;
    return {
      ...{
        partner_id: partnerOf(number),
        test_mode: testMode,
        id: randomUUID(),
        account_id: merchantOf(number, testMode),
      },
      ...{
        usdc_micro: 1_000_000 + place,
        wallet_address: walletOf(number),
        reference: randomBytes(16).toString('hex'),
      },
      place,
    };
  });
  await sql`
    with wanted as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as w (partner_id uuid, test_mode boolean, id uuid,
        account_id uuid, usdc_micro numeric, wallet_address text, reference text, place int)
    ), made as (
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, wallet_address, reference, start_blocks, created_at, made_at, expires_at)
      select partner_id, test_mode, id, account_id, 1250, 'EUR', usdc_micro, true, '0.92', 'pos',
        '{"order":"A-1042"}', wallet_address, decode(reference, 'hex'), '{}', now() + place * interval '1 ms', now(),
        now() + interval '1 hour' from wanted
    )
    insert into amount_reservations (wallet_address, usdc_micro, partner_id, test_mode, request_id, reserved_at, reserved_until)
    select wallet_address, usdc_micro, partner_id, test_mode, id, now(), now() + interval '25 hours' from wanted`;
  return rows;
}

/** Prepares a chain: funds its sender, and turns automatic mining off. */
export async function prepareChain({ chain, url }: PaidChain): Promise<void> {
  await fund({ ...chain, rpcUrls: [url] }, sender, 10n ** 15n);
  await callRpc(url, 'anvil_impersonateAccount', [sender]);
  await callRpc(url, 'anvil_setBalance', [sender, toHex(10n ** 26n)]);
  await callRpc(url, 'anvil_setBlockGasLimit', [toHex(300_000_000)]);
  await callRpc(url, 'evm_setAutomine', [false]);
}

/**
 * Sends transfers to the chain, which its next block will contain. Half of them pay a new request each, by its
 * reference.
 *
 * @returns the ids of these requests
 */
export async function offerBlock(sql: Sql, to: PaidChain, transfers: number): Promise<string[]> {
  const merchants = Array.from({ length: transfers / 2 }, () => Math.floor(Math.random() * to.wallets));
  const requests = await makeRequests(sql, merchants, to.testMode);
  const calls = requests.flatMap((request) => [
    transferCall({
      to: request.wallet_address,
      usdcMicro: BigInt(request.usdc_micro),
      reference: Buffer.from(request.reference, 'hex'),
    }),
    transferCall({ to: `0x${randomBytes(20).toString('hex')}`, usdcMicro: 1n }),
  ]);
  const token = to.chain.tokens[0]?.address;
  for (let at = 0; at < calls.length; at += 100) {
    const said = calls.slice(at, at + 100).map((data, id) => ({
      ...{ jsonrpc: '2.0', id, method: 'eth_sendTransaction' },
      params: [{ from: sender, to: token, data, gas: toHex(100_000) }],
    }));
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(to.url, { method: 'POST', headers, body: JSON.stringify(said) });
    for (const { error } of (await answer.json()) as { error?: { message: string } }[]) {
      if (error) throw new Error(error.message);
    }
  }
  return requests.map(({ id }) => id);
}

/** Requests for pgbench to verify, each once: number `n` has the id `c…n`. */
export async function makeRowsToVerify(sql: Sql): Promise<void> {
  const { partners, rows } = verifyShape;
  for (let from = 0; from < rows; from += 10_000) {
    await sql`
      insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
        payment_mode, metadata, wallet_address, reference, start_blocks, created_at, made_at, expires_at)
      select (${prefixOf('a')} || lpad((n % ${partners}::int)::text, 12, '0'))::uuid, true,
        (${prefixOf('c')} || lpad(n::text, 12, '0'))::uuid, (${prefixOf('b')} || lpad(n::text, 12, '0'))::uuid, 1250,
        'EUR', 500000000 + n, true, '0.92', 'pos', '{"order":"A-1042"}', '0xeeeeeeee' || lpad(to_hex(n), 32, '0'),
        decode(md5(n::text), 'hex'), '{}', now() - interval '1 hour' + n * interval '1 ms', now(), now() + interval '1 hour'
      from generate_series(${from}::int, ${from}::int + 9999) n`;
    await sql`
      insert into amount_reservations
      select wallet_address, usdc_micro, partner_id, test_mode, id, now(), now() + interval '25 hours' from requests
      where usdc_micro between 500000000 + ${from}::int and 500000000 + ${from}::int + 9999`;
  }
}

/** A script that writes what one verified payment writes, in one transaction: transfer, request, amount, event. */
export const rowsScript = (chainId: number) => `
select nextval('bench_rows') as n \\gset
\\set partner :n % ${verifyShape.partners}
begin;
insert into transfers (chain_id, tx_hash, ordinal, log_index, block_number, block_hash, block_time, token_address, from_address,
  to_address, value, partner_id, test_mode, account_id, calldata_reference, request_id, rule, counts, judged_at, final_at)
  values (${chainId}, '0xbe' || lpad(:n::text, 62, '0'), 0, 0, 1, '0x', now(), '0x${'5f'.repeat(20)}', '0x${'ad'.repeat(20)}',
  '0xeeeeeeee' || lpad(to_hex(:n::bigint), 32, '0'), 500000000 + :n::bigint, ('${prefixOf('a')}' || lpad(:partner::text, 12, '0'))::uuid, true,
  ('${prefixOf('b')}' || lpad(:n::text, 12, '0'))::uuid, decode(md5(:n::text), 'hex'),
  ('${prefixOf('c')}' || lpad(:n::text, 12, '0'))::uuid, 'reference', true, now(), now());
update requests set proof_status = 'verified', proof_verified_at = now(), tx_hash = '0xbe', payer_address = '0xad', asset_id = 'eip155'
  where partner_id = ('${prefixOf('a')}' || lpad(:partner::text, 12, '0'))::uuid and test_mode
    and id = ('${prefixOf('c')}' || lpad(:n::text, 12, '0'))::uuid;
update amount_reservations set reserved_until = now() + interval '24 hours'
  where request_id = ('${prefixOf('c')}' || lpad(:n::text, 12, '0'))::uuid;
insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
  values (('${prefixOf('a')}' || lpad(:partner::text, 12, '0'))::uuid, true, gen_random_uuid(),
  ('${prefixOf('c')}' || lpad(:n::text, 12, '0'))::uuid, 'payment.proof_verified', repeat('x', 400), now());
end;
`;
