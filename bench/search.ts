import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopeOf } from '../src/auth/scope.ts';
import { readConfig } from '../src/config.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { receiptNumber } from '../src/lib/text/receipt-number.ts';
import { browseRequests } from '../src/requests/lists/browse.ts';
import { openService } from '../src/service.ts';
import { idOf, makeFixtures } from './fixtures.ts';
import { writeIdleChains } from './idle-chains.ts';
import { machine } from './report.ts';

/**
 * Measures the search of a partner that has a million requests: `npm run bench:search`, about three minutes. For each kind
 * of what is typed it prints the median and the longest of several searches, and how far they looked.
 */
const many = Number(process.env.BENCH_REQUESTS || 1_000_000);
const runs = 9;
const secrets = [{ id: 'bench', key: Buffer.alloc(32, 7) }];
const secretText = `bench:${Buffer.alloc(32, 7).toString('base64')}`;
const stops: Array<() => unknown> = [];

async function run(): Promise<void> {
  const load = loadavg()[0]?.toFixed(1) ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startEmbedded(folder);
  stops.push(postgres.stop);
  const config = readConfig({
    ...{ DATABASE_URL: postgres.url, DATA_DIR: folder, CHAINS_FILE: writeIdleChains(folder), LOG_LEVEL: 'warn' },
    SECRET_KEYS: secretText,
  });
  const { ctx, close } = await openService(config);
  stops.push(close);
  await makeFixtures(ctx.db.sql, secrets);
  process.stdout.write(`${many} requests of one partner …\n`);
  // In parts: a statement of the service may take 30 seconds.
  const part = 20_000;
  for (let from = 1; from <= many; from += part) await insertPart(ctx.db.sql, from, Math.min(many, from + part - 1));
  await ctx.db.sql`analyze requests`;
  const [oldest] = await ctx.db.sql<{ id: string; created_at: Date; partner_id: string }[]>`
    select id, created_at, partner_id from requests order by created_at limit 1`;
  if (!oldest) throw new Error('no request was made');
  const scope = scopeOf(oldest.partner_id, true);
  const typed: Record<string, string> = {
    'request ID': oldest.id,
    'first 8 characters of it': oldest.id.slice(0, 8),
    'receipt number': receiptNumber(oldest.id, oldest.created_at),
    'transaction hash': `0x${'0'.repeat(64)}`,
    'payer address': `0x${'0'.repeat(40)}`,
    'idempotency key': 'key-1',
    'whole e-mail address': 'CUSTOMER1@example.com',
    'metadata value': 'order a-1',
    'amount that many have': '12.34',
    'amount that none has': '99,999.99',
    'word that nobody has': 'nobody',
    'name of the oldest': 'customer 1 of many',
  };
  process.stdout.write(
    `\n${machine()}, load before the run ${load}.\n\n| typed | median | longest | said |\n| --- | --- | --- | --- |\n`,
  );
  for (const [kind, text] of Object.entries(typed)) {
    const tookMs: number[] = [];
    let said = '';
    for (let i = 0; i < runs; i++) {
      const from = performance.now();
      const { rows, limit } = await browseRequests(ctx, scope, { search: text }, null);
      tookMs.push(performance.now() - from);
      said = `${rows.length} shown${limit ? `, ${limit.kind} ${limit.count}` : ''}`;
    }
    tookMs.sort((a, b) => a - b);
    const ms = (value: number | undefined) => `${Math.round(value ?? 0)} ms`;
    process.stdout.write(`| ${kind} | ${ms(tookMs[runs >> 1])} | ${ms(tookMs.at(-1))} | ${said} |\n`);
  }
}

const insertPart = (sql: Parameters<typeof makeFixtures>[0], from: number, to: number) => sql`
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved, rate,
    payment_mode, memo, customer_name, customer_email, metadata, wallet_address, reference, start_blocks, created_at, expires_at)
  select m.partner_id, true, gen_random_uuid(), m.id, 'key-' || n, 100 + n % 5000, 'EUR', 1000000 + n % 50000000, false, '0.92',
    'pos', 'Table ' || n % 40, 'Customer ' || n, 'customer' || n || '@example.com',
    json_build_object('order', 'Order A-' || n), m.wallet_address, decode(lpad(to_hex(n), 32, '0'), 'hex'), '{}',
    now() - interval '90 days' + n * interval '5 seconds', now() + interval '1 day'
  from merchants m, generate_series(${from}::int, ${to}::int) n where m.id = ${idOf('b', 0)}`;

await run().finally(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
