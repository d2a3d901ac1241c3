import { once } from 'node:events';
import { Pool } from 'undici';
import type { ChainConfig } from '../../src/config/chains.ts';
import type { Sql } from '../../src/db/connection.ts';
import { pause } from '../../src/lib/time.ts';
import { defaultWallet, fund, sendUsdc } from '../../src/sandbox/wallet.ts';
import { startChild } from '../child.ts';
import type { Figure, Finding } from '../figure.ts';
import { makeEndpoints, makeFixtures, shape } from '../fixtures.ts';
import { type OpenPages, openPages } from '../open-pages.ts';
import { makeRequests } from '../requests.ts';
import { type Spread, spread } from '../rounds.ts';
import { memoryOf, productionEnv, type ServiceProcess, startProcess } from '../service-process.ts';
import { type Stage, stageService } from '../stage.ts';
import { createBody, merchantOf } from '../statements.ts';

const minutes = Number(process.env.BENCH_MINUTES || 30);
const many = Number(process.env.BENCH_REQUESTS || 100_000);
const pages = 200;
/** Calls and payments per second. A payment pays a request whose page is open, and its event is delivered. */
const perSecond = { creates: 20, gets: 30, lists: 5, payments: 1 };
const target = { megabytes: 400, p99Ms: 20 };

type Delay = { heapMb: number; heapTotalMb: number; externalMb: number; p50Ms: number; p99Ms: number; maxMs: number };
type Counts = { creates: number; gets: number; lists: number; payments: number; refused: number };
type Sample = Delay & { minute: number; rssMb: number };
type Due = { wallet_address: string; usdc_micro: string; reference: Uint8Array };
/** A created request, and the number of the key that created it. */
type Made = { id: string; key: number };

async function askDelay({ child }: ServiceProcess): Promise<Delay> {
  child.send('now');
  return (await once(child, 'message'))[0] as Delay;
}

/** Calls one after another at a rate, whether or not the calls before have been answered. */
function atRate(rate: number, signal: AbortSignal, call: () => Promise<void>): Promise<void> {
  let done = 0;
  const startedAt = performance.now();
  const underWay = new Set<Promise<void>>();
  return (async () => {
    while (!signal.aborted) {
      const due = startedAt + (done++ / rate) * 1000;
      await pause(Math.max(0, due - performance.now()), signal);
      if (underWay.size > 100) continue; // so that a service that does not answer is not overloaded further
      const one = call().finally(() => underWay.delete(one));
      underWay.add(one);
    }
    await Promise.all(underWay);
  })();
}

/** The API's calls by 20 connections; each key stays far below its limits. */
function caller(stage: Stage, origin: string, keys: string[]) {
  const pool = new Pool(origin, { connections: 20, pipelining: 1 });
  stage.onEnd(() => pool.destroy());
  const counts: Counts = { creates: 0, gets: 0, lists: 0, payments: 0, refused: 0 };
  const call = async (name: keyof Counts, path: string, key: number, body?: string) => {
    const headers = { authorization: `Bearer ${keys[key]}`, ...(body && { 'content-type': 'application/json' }) };
    const answer = await pool.request({ path, method: body ? 'POST' : 'GET', headers, body: body ?? null });
    const json = (await answer.body.json()) as { request_id?: string };
    counts[answer.statusCode < 300 ? name : 'refused']++;
    return json;
  };
  return { counts, call };
}

/** Everything that partners and customers do, until the signal aborts. */
async function load(
  { sql, chain, open }: { sql: Sql; chain: ChainConfig; open: OpenPages },
  { call, counts }: ReturnType<typeof caller>,
  signal: AbortSignal,
): Promise<unknown> {
  const payer = defaultWallet();
  await fund(chain, payer.address, 10n ** 15n);
  const made: Made[] = [];
  let creates = 0;
  const create = async () => {
    const turn = creates++;
    const key = turn % shape.keys;
    const body = createBody(merchantOf(key, turn), 100 + (turn % 9_000), crypto.randomUUID());
    const { request_id: id } = await call('creates', '/api/v1/requests/create', key, body);
    if (!id) return;
    made.push({ id, key });
    if (made.length > pages) made.shift();
    if (turn % 4 === 0) open.show(id);
  };
  const get = async () => {
    const one = made[Math.floor(Math.random() * made.length)];
    if (one) await call('gets', `/api/v1/requests/${one.id}`, one.key);
  };
  const list = async () => {
    await call('lists', '/api/v1/requests?limit=100', Math.floor(Math.random() * shape.keys));
  };
  const pay = async () => {
    // A request of a partner with an endpoint. Merchant 0 cannot be paid, because its wallet is the zero address.
    const at = made.findIndex(({ key }) => key % shape.partners > 0 && key % shape.partners < shape.receivers);
    const [one] = at < 0 ? [] : made.splice(at, 1);
    const [row] = one
      ? await sql<Due[]>`select wallet_address, usdc_micro, reference from requests where id = ${one.id}`
      : [];
    if (!row) return;
    const payment = { privateKey: payer.privateKey, to: row.wallet_address, usdcMicro: BigInt(row.usdc_micro) };
    await sendUsdc(chain, { ...payment, reference: row.reference });
    counts.payments++;
  };
  return Promise.all([
    atRate(perSecond.creates, signal, create),
    atRate(perSecond.gets, signal, get),
    atRate(perSecond.lists, signal, list),
    atRate(perSecond.payments, signal, pay),
  ]);
}

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  const { sql } = ctx.db;
  const { env: production, chains } = await productionEnv(stage, env.DATABASE_URL as string);
  const { keys } = await makeFixtures(sql, ctx.config.secretKeys);
  await makeRequests(sql, many);
  const receiver = await startChild('receiver.ts', {});
  stage.onEnd(receiver.stop);
  await makeEndpoints(sql, ctx.config.secretKeys, receiver.origin);
  const service = await startProcess(stage, production, 'loop-delay.ts');
  const open = openPages(service.origin, pages);
  stage.onEnd(open.close);
  const calls = caller(stage, service.origin, keys);
  const ending = new AbortController();
  stage.onEnd(() => ending.abort());
  const work = load({ sql, chain: chains.test[0] as ChainConfig, open }, calls, ending.signal);
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const passed = () => (performance.now() - startedAt) / 60_000;
  await askDelay(service);
  while (passed() < minutes) {
    await Promise.race([work, pause(Math.min(1, minutes / 12) * 60_000)]);
    samples.push({ minute: passed(), rssMb: memoryOf(service).nowMb, ...(await askDelay(service)) });
    process.stdout.write(`  ${JSON.stringify({ ...samples.at(-1), ...calls.counts, pages: open.received() })}\n`);
  }
  ending.abort();
  await work;
  const [events] = await sql<{ delivered: number }[]>`
    select count(*)::int as delivered from webhook_deliveries where state = 'delivered'`;
  return report(samples, calls.counts, events?.delivered ?? 0);
}

function report(samples: Sample[], counts: Counts, delivered: number): Finding {
  const later = samples.slice(Math.floor(samples.length / 3));
  const half = Math.floor(later.length / 2);
  const memory = (part: Sample[]) => spread(part.map(({ rssMb }) => rssMb));
  const [all, before, after] = [memory(later), memory(later.slice(0, half)), memory(later.slice(half))];
  const p99 = spread(later.map(({ p99Ms }) => p99Ms));
  const isFlat = after.median <= before.median * 1.05;
  const mark = (met: boolean) => (met ? '✓' : '✗');
  const heap = spread(later.map(({ heapMb }) => heapMb));
  const of = ({ median, min, max }: Spread, digits = 0) =>
    `**${median.toFixed(digits)}** (${min.toFixed(digits)} to ${max.toFixed(digits)})`;
  return {
    facts: [
      `${minutes} minutes, of which the first third is left out below; ${pages} open pages; each second`,
      `${perSecond.creates} creates, ${perSecond.gets} reads, ${perSecond.lists} lists of 100 and ${perSecond.payments} payment`,
      `on the chain with its delivery; ${many.toLocaleString('en')} requests at the start. Answered: ${counts.creates} creates,`,
      `${counts.gets} reads, ${counts.lists} lists; ${counts.payments} payments, ${delivered} deliveries; refused: ${counts.refused}.`,
    ],
    table: {
      head: ['figure', 'median (range)', 'target'],
      rows: [
        ['resident memory, MB', of(all), `${target.megabytes} ${mark(all.max <= target.megabytes)}`],
        ['the same, first and second half', `${before.median}, ${after.median}`, `flat ${mark(isFlat)}`],
        ['heap in use, MB', of(heap), ''],
        [
          'timers are late, 99th percentile of a minute, ms',
          of(p99, 1),
          `${target.p99Ms} ${mark(p99.median <= target.p99Ms)}`,
        ],
        ['the same, latest timer of a minute, ms', of(spread(later.map(({ maxMs }) => maxMs)), 1), ''],
      ],
    },
  };
}

export const figure: Figure = {
  what:
    'Memory and event loop of one production process with all its loops under mixed load. The callers, the chain and the ' +
    'database run on the same cores.',
  limitMinutes: minutes + 15,
  measure,
};
