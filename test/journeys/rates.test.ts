import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import pino from 'pino';
import { readLog } from '../../src/audit/read.ts';
import { theService } from '../../src/audit/write.ts';
import { rateCommands } from '../../src/cli/rates.ts';
import { readConfig } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import { connect, type Database } from '../../src/db/connection.ts';
import { Refusal } from '../../src/errors.ts';
import { systemClock } from '../../src/lib/time.ts';
import { listRates } from '../../src/rates/list.ts';
import { clearOverride, setOverride } from '../../src/rates/override.ts';
import { rateSources } from '../../src/rates/providers.ts';
import { type Quote, quoteOf, usableRate } from '../../src/rates/quote.ts';
import { isKnownCurrency } from '../../src/rates/read.ts';
import { manualRefresh, refreshIfDue, refreshRates } from '../../src/rates/refresh.ts';
import type { RateSource } from '../../src/rates/source.ts';
import { testDatabase } from '../support/database.ts';
import { makePartner } from '../support/fixtures.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Database;
let ctx: Context;
let now = new Date();

before(async () => {
  database = await testDatabase();
  db = database.db;
  const config = readConfig({ SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` });
  const log = pino({ level: 'silent' });
  ctx = { config, db, log, clock: { now: () => now }, chains: { test: [], live: [] }, sandbox: null };
});
beforeEach(async () => {
  now = new Date();
  await db.sql`delete from rates`;
  await db.sql`delete from rate_overrides`;
});
after(() => database.drop());

function source(name: string, rates: Record<string, string>): RateSource {
  return { name, fetchRates: async () => new Map(Object.entries(rates)) };
}
const broken: RateSource = {
  name: 'broken',
  fetchRates: async () => {
    throw new Error('fetch failed', { cause: new Error('connection refused') });
  },
};
async function quote(code: string): Promise<string | null> {
  const [row] = await db.sql<{ quote: Quote | null }[]>`select ${quoteOf(db.sql, code)} as quote`;
  return usableRate(row?.quote ?? null, now);
}
function minutesLater(minutes: number): void {
  now = new Date(now.getTime() + minutes * 60_000);
}
function commandOf(name: string) {
  const command = rateCommands.find((candidate) => candidate.name === name);
  assert.ok(command);
  return command;
}

const run = (name: string, words: string[] = [], options: Record<string, string> = {}) =>
  commandOf(name).run(ctx, { words, options });

test('rates › the median of the sources that answered is stored and quoted, one failing changes nothing', async () => {
  const answered = [
    source('a', { EUR: '0.92', JPY: '154' }),
    source('b', { EUR: '0.93' }),
    source('c', { EUR: '0.921' }),
  ];
  const result = await refreshRates(ctx, [...answered, broken]);
  assert.deepEqual(result.refreshed, ['EUR', 'JPY']);
  assert.deepEqual(result.failed, [{ source: 'broken', error: 'fetch failed: connection refused' }]);
  assert.equal(await quote('EUR'), '0.921');
  assert.equal(await quote('JPY'), '154');
  const [eur] = await listRates(ctx);
  assert.deepEqual(eur?.sources, [
    { source: 'a', rate: '0.92' },
    { source: 'b', rate: '0.93' },
    { source: 'c', rate: '0.921' },
  ]);
});

test('a source that fails with a very long text → only its beginning is logged and shown', async () => {
  const fetchRates = () => Promise.reject(new Error(`it answered ${'x'.repeat(1_000_000)}`));
  const { failed } = await refreshRates(ctx, [{ name: 'wordy', fetchRates }]);
  assert.equal(failed[0]?.error.length, 300);
  assert.match(failed[0]?.error ?? '', /^it answered x+$/);
});

test('rates › two sources more than 2 % from their middle → the last rate is used until it is 10 minutes old', async () => {
  await refreshRates(ctx, [source('a', { EUR: '0.90' })]);
  minutesLater(9);
  const result = await refreshRates(ctx, [source('a', { EUR: '0.92' }), source('b', { EUR: '0.97' })]);
  assert.deepEqual(result.refreshed, []);
  assert.deepEqual(result.disputed, ['EUR']);
  assert.equal(await quote('EUR'), '0.9');
  minutesLater(2);
  assert.equal(await quote('EUR'), null);
});

test('rates › exactly 10 minutes old is still used, older is not', async () => {
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  minutesLater(10);
  assert.equal(await quote('EUR'), '0.9');
  now = new Date(now.getTime() + 1);
  assert.equal(await quote('EUR'), null);
});

test('rates › all sources down → nothing is stored, nothing thrown', async () => {
  const result = await refreshRates(ctx, [broken, broken]);
  assert.deepEqual(result.refreshed, []);
  assert.equal(await quote('EUR'), null);
});

test('rates › a code that is not a currency is never stored', async () => {
  await refreshRates(ctx, [source('a', { DOGE: '5', XAU: '1', EUR: '0.9' })]);
  assert.deepEqual(
    (await listRates(ctx)).map(({ code }) => code),
    ['EUR'],
  );
});

test('rates › an answer that took longer never replaces a newer one', async () => {
  const slow: RateSource = {
    name: 'slow',
    async fetchRates() {
      minutesLater(1);
      await refreshRates(ctx, [source('quick', { EUR: '0.93' })]);
      return new Map([['EUR', '0.91']]);
    },
  };
  await refreshRates(ctx, [slow]);
  assert.equal(await quote('EUR'), '0.93');
});

test('rates › scheduled refresh: at once when there is none, then only when due, and never older than 10 minutes', async () => {
  const sources = rateSources(['fixed']);
  assert.ok((await refreshIfDue(ctx, sources))?.refreshed.includes('EUR'));
  assert.equal(await refreshIfDue(ctx, sources), null);
  for (let minute = 0; minute < 30; minute++) {
    minutesLater(1);
    await refreshIfDue(ctx, sources);
    assert.notEqual(await quote('EUR'), null);
  }
});

test('rates › an override wins, does not age and outlives refreshes until it is cleared', async () => {
  await setOverride(ctx, theService, { code: 'EUR', rate: '0.5', until: null, shownDeviation: null });
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  minutesLater(60 * 24 * 365);
  assert.equal(await quote('EUR'), '0.5');
  await refreshRates(ctx, [source('a', { EUR: '0.91' })]);
  assert.equal(await quote('EUR'), '0.5');
  const entries = async () => (await db.sql`select from audit_log where action = 'rate.cleared'`).length;
  const before = await entries();
  assert.equal(await clearOverride({ db, clock: systemClock }, theService, 'EUR'), true);
  assert.equal(await quote('EUR'), '0.91');
  assert.equal(await clearOverride({ db, clock: systemClock }, theService, 'EUR'), false);
  assert.equal((await entries()) - before, 1, 'only what was cleared is logged');
});

test('rates › an override with an end gives way to the sources by itself; an end that is past is refused', async () => {
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  const end = new Date(now.getTime() + 3_600_000).toISOString();
  await run('rate set', ['EUR', '0.5'], { until: end, deviates: '-44' });
  await setOverride(ctx, theService, {
    code: 'KWD',
    rate: '0.3',
    until: new Date(now.getTime() + 3_600_000),
    shownDeviation: null,
  });
  assert.equal(await quote('EUR'), '0.5');
  const [shown] = (await listRates(ctx)).filter(({ code }) => code === 'EUR');
  assert.deepEqual([shown?.override, shown?.override_until], [true, new Date(now.getTime() + 3_600_000).toISOString()]);

  await setOverride(ctx, theService, { code: 'KWD', rate: '0.31', until: null, shownDeviation: null });
  const [lasting] = (await listRates(ctx)).filter(({ code }) => code === 'KWD');
  assert.deepEqual([lasting?.rate, lasting?.override_until], ['0.31', null], 'replaced together with its end');

  await db.sql`update rate_overrides set until = now() - interval '1 second'`;
  assert.equal(await quote('EUR'), '0.9');
  assert.equal(await quote('KWD'), null);
  const rates = await listRates(ctx);
  assert.deepEqual(
    rates.map(({ code, override, override_until }) => [code, override, override_until]),
    [['EUR', false, null]],
  );
  assert.equal(await clearOverride({ db, clock: systemClock }, theService, 'EUR'), false);
  await assert.rejects(
    setOverride(ctx, theService, { code: 'EUR', rate: '0.5', until: now, shownDeviation: null }),
    /must be in the future/,
  );
  await assert.rejects(run('rate set', ['EUR', '0.5'], { until: 'soon' }), /--until/);
});

test('rates › an override more than 5 % from the sources → refused until asked again with the deviation shown', async () => {
  await refreshRates(ctx, [source('a', { EUR: '0.92' })]);
  const set = (rate: string, deviates?: string) => run('rate set', ['EUR', rate], deviates ? { deviates } : {});
  await assert.rejects(
    set('92'),
    /^Error: 92 is 9900 % above the sources’ rate \(0\.92\)\. To set it anyway, add --deviates 9900\./,
  );
  await assert.rejects(set('0.5'), /0\.5 is 46 % below .* --deviates -46\./);
  for (const other of ['46', '-20', 'yes']) await assert.rejects(set('0.5', other), /46 % below/, other);
  await assert.rejects(set('0.05', '-46'), /95 % below/, 'the deviation of another rate');
  assert.equal(await quote('EUR'), '0.92');
  await set('0.966');
  assert.equal(await quote('EUR'), '0.966');
  await set('0.5', '-46');
  assert.equal(await quote('EUR'), '0.5');
});

test('rates › a clock that jumped while rates were fetched → they are not used, and the next fetch replaces them', async () => {
  minutesLater(30 * 24 * 60);
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  minutesLater(-30 * 24 * 60);
  assert.equal(await quote('EUR'), null);
  assert.deepEqual((await refreshIfDue(ctx, [source('a', { EUR: '0.92' })]))?.refreshed, ['EUR']);
  assert.equal(await quote('EUR'), '0.92');
});

test('rates › an override must be a positive decimal of a known currency', async () => {
  for (const rate of ['0', '0.000', '-1', '1e3', '', ' 1', '1,5', 'NaN', `0.${'1'.repeat(19)}`, '1'.repeat(25)]) {
    await assert.rejects(
      setOverride(ctx, theService, { code: 'EUR', rate: rate, until: null, shownDeviation: null }),
      /is not a rate/,
      rate,
    );
  }
  for (const code of ['eur', 'XXX', 'XAU', 'EURO', '', 'constructor', '__proto__', 'toString']) {
    await assert.rejects(
      setOverride(ctx, theService, { code: code, rate: '1', until: null, shownDeviation: null }),
      /is not a currency/,
      code,
    );
    await assert.rejects(clearOverride({ db, clock: systemClock }, theService, code), /is not a currency/, code);
  }
});

test('rates › a currency is known with an exponent and a rate, however old', async () => {
  assert.equal(await isKnownCurrency(db, 'EUR'), false);
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  await setOverride(ctx, theService, { code: 'KWD', rate: '0.3', until: null, shownDeviation: null });
  minutesLater(1000);
  assert.equal(await isKnownCurrency(db, 'EUR'), true);
  assert.equal(await isKnownCurrency(db, 'KWD'), true);
  assert.equal(await isKnownCurrency(db, 'USD'), false);
  assert.equal(await isKnownCurrency(db, 'constructor'), false);
});

test('Manual refresh › 1 per minute per partner, exactly, over several nodes at once', async () => {
  const [one, two] = [await makePartner(db), await makePartner(db)];
  const node = connect(database.access);
  try {
    let fetched = 0;
    const counting: RateSource = {
      name: 'counting',
      async fetchRates() {
        fetched++;
        return new Map([['EUR', '0.9']]);
      },
    };
    const nodes = [ctx, { ...ctx, db: node }];
    const minuteBefore = await minuteOfDatabase();
    const calls = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => manualRefresh(nodes[i % 2] as Context, theService, [counting], one.partner)),
    );
    const refused = calls.flatMap((call) => (call.status === 'rejected' ? [call.reason] : []));
    for (const reason of refused) assert.ok(reason instanceof Refusal && reason.code === 'rate_limited');
    const minutes = (await minuteOfDatabase()) - minuteBefore + 1;
    assert.ok(fetched >= 1 && fetched <= minutes, `${fetched} fetches within ${minutes} calendar minutes`);
    assert.equal(refused.length, 20 - fetched);
    await manualRefresh(ctx, theService, [counting], two.partner);
    assert.equal(calls.length - refused.length + 1, fetched);
  } finally {
    await node.close();
  }
});

test('Manual refresh › the next minute begins at zero', async () => {
  const { partner } = await makePartner(db);
  await manualRefresh(ctx, theService, [broken], partner);
  await db.sql`update rate_counters set minute = minute - interval '1 minute' where subject = ${partner.id}`;
  await manualRefresh(ctx, theService, [broken], partner);
});

test('Manual refresh › fetches now, for everyone, also when nothing is due', async () => {
  const { partner } = await makePartner(db);
  await refreshRates(ctx, [source('a', { EUR: '0.9' })]);
  await manualRefresh(ctx, theService, [source('a', { EUR: '0.95' })], partner);
  assert.equal(await quote('EUR'), '0.95');
  const { rows } = await readLog(ctx, 'operators', { action: 'rates.refreshed' }, 1);
  assert.deepEqual(
    rows.map(({ actor_name, details }) => [actor_name, details]),
    [['the service', `{"partner":"${partner.slug}"}`]],
  );
});

test('rate set, list, clear, refresh › the command line', async () => {
  const { partner } = await makePartner(db);
  assert.deepEqual(await run('rate set', ['EUR', '0.9']), { code: 'EUR', rate: '0.9', override: true, until: null });
  const listed = (await run('rate list')).rates as { code: string; override: boolean; usable: boolean }[];
  assert.deepEqual(listed, [
    {
      ...{ code: 'EUR', rate: '0.9', override: true, override_until: null, usable: true, fetched_at: null },
      ...{ sources: [], sources_rate: null, override_percent: null },
    },
  ]);
  assert.deepEqual(await run('rate clear', ['EUR']), { code: 'EUR', override: false });
  await assert.rejects(run('rate clear', ['EUR']), /nothing to clear/);
  await assert.rejects(run('rate set', ['EUR']), /missing/);
  await assert.rejects(run('rate set', ['EUR', '0']), /is not a rate/);
  await assert.rejects(run('rate refresh'), /--partner is missing/);
  await assert.rejects(run('rate refresh', [], { partner: 'nobody' }), /no partner "nobody"/);
  const result = await run('rate refresh', [], { partner: partner.slug });
  assert.ok((result.refreshed as string[]).length >= 30);
  const refresh = commandOf('rate refresh');
  assert.equal(refresh.hasFailed?.(result), false);
  assert.equal(refresh.hasFailed?.({ refreshed: [], failed: [{ source: 'a', error: 'fetch failed' }] }), true);
  await db.sql`update rate_counters set minute = now() + interval '1 minute' where subject = ${partner.id}`;
  await assert.rejects(run('rate refresh', [], { partner: partner.slug }), /already refreshed/);
});

async function minuteOfDatabase(): Promise<number> {
  const [row] = await db.sql`select floor(extract(epoch from clock_timestamp()) / 60)::int as minute`;
  return row?.minute;
}
