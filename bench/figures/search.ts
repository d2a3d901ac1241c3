import { scopeOf } from '../../src/auth/scope.ts';
import type { Context } from '../../src/context.ts';
import { receiptNumber } from '../../src/lib/text/receipt-number.ts';
import { browseRequests } from '../../src/requests/lists/browse.ts';
import { indexMetadata } from '../../src/requests/lists/index-metadata.ts';
import type { Figure, Finding } from '../figure.ts';
import { idOf, makeFixtures } from '../fixtures.ts';
import { analyze } from '../read-stage.ts';
import { type Stage, stageService } from '../stage.ts';

const many = Number(process.env.BENCH_REQUESTS || 1_000_000);
const runs = 9;

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  process.stdout.write(`${many} requests of one partner …\n`);
  // In parts, because a statement of the service may take at most 30 seconds.
  const part = 20_000;
  for (let from = 1; from <= many; from += part) await insertPart(ctx.db.sql, from, Math.min(many, from + part - 1));
  await indexAll(ctx);
  await analyze(env.DATABASE_URL as string);
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
  const rows: string[][] = [];
  for (const [kind, text] of Object.entries(typed)) {
    const tookMs: number[] = [];
    let said = '';
    for (let i = 0; i < runs; i++) {
      const from = performance.now();
      const { rows: found, limit } = await browseRequests(ctx, scope, { search: text }, null);
      tookMs.push(performance.now() - from);
      said = `${found.length} shown${limit ? `, ${limit.kind} ${limit.count}` : ''}`;
    }
    tookMs.sort((a, b) => a - b);
    const ms = (value: number | undefined) => `${Math.round(value ?? 0)} ms`;
    rows.push([kind, ms(tookMs[runs >> 1]), ms(tookMs.at(-1)), said]);
    process.stdout.write(`  ${rows.at(-1)?.join(', ')}\n`);
  }
  return {
    facts: [`${many.toLocaleString('en')} requests; ${runs} searches for each kind of what is typed.`],
    table: { head: ['typed', 'median', 'longest', 'result'], rows },
  };
}

/** Indexes metadata as the loop does. The loop reads up to the partner's clock, which these inserts did not move. */
async function indexAll(ctx: Context): Promise<void> {
  process.stdout.write('  values of metadata …\n');
  await ctx.db.sql`
    insert into partner_clocks (partner_id, test_mode, last_at)
    select partner_id, test_mode, max(created_at) from requests group by 1, 2
    on conflict (partner_id, test_mode) do update set last_at = excluded.last_at`;
  for (let read = 1; read > 0; ) read = await indexMetadata(ctx, new AbortController().signal);
}

const insertPart = (sql: Parameters<typeof makeFixtures>[0], from: number, to: number) => sql`
  insert into requests (partner_id, test_mode, id, account_id, idempotency_key, fiat_int, fiat_code, usdc_micro, reserved, rate,
    payment_mode, memo, customer_name, customer_email, metadata, wallet_address, reference, start_blocks, created_at, expires_at)
  select m.partner_id, true, gen_random_uuid(), m.id, 'key-' || n, 100 + n % 5000, 'EUR', 1000000 + n % 50000000, false, '0.92',
    'pos', 'Table ' || n % 40, 'Customer ' || n, 'customer' || n || '@example.com',
    json_build_object('order', 'Order A-' || n), m.wallet_address, decode(lpad(to_hex(n), 32, '0'), 'hex'), '{}',
    now() - interval '90 days' + n * interval '5 seconds', now() + interval '1 day'
  from merchants m, generate_series(${from}::int, ${to}::int) n where m.id = ${idOf('b', 0)}`;

export const figure: Figure = {
  what: 'The portal’s search of a partner with a million requests. Searches that name a request name the oldest one.',
  limitMinutes: 40,
  measure,
};
