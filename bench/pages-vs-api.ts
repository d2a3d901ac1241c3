import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { Agent, request } from 'undici';
import { connect } from '../src/db/connection.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { accessOf } from '../src/db/logins.ts';
import { pause } from '../src/lib/time.ts';
import { startChild } from './child.ts';
import { idOf, makeFixtures } from './fixtures.ts';
import { writeIdleChains } from './idle-chains.ts';
import { machine } from './report.ts';
import { spread } from './rounds.ts';

/**
 * Measures how far 40 connections from one address that hammer a pay page slow the API:
 * `npm run bench:page-load -- [folder]`. A folder of another checkout is measured in the same rounds. Each arm reports
 * the 95th percentile of the API's answer times in milliseconds. Only the ratios matter.
 */
const rounds = Number(process.env.BENCH_ROUNDS || 6);
const seconds = 3;
const clients = 4;
const betweenCallsMs = 10;
const hammers = 40;
const secrets = [{ id: 'bench', key: Buffer.alloc(32, 7) }];
const secret = `bench:${Buffer.alloc(32, 7).toString('base64')}`;
const stops: Array<() => unknown> = [];

type Side = { origin: string; keys: string[]; payPage: string };

/** Starts the service of a checkout on its own durable PostgreSQL, with partners, keys and an unpaid request. */
async function startSide(checkout: string): Promise<Side> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-page-load-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const server = await startEmbedded(folder);
  stops.push(server.stop);
  const env = { DATABASE_URL: server.url, DATA_DIR: folder, CHAINS_FILE: writeIdleChains(folder), SECRET_KEYS: secret };
  const child = await startChild(relative(import.meta.dirname, join(checkout, 'bench/server.ts')), env);
  stops.push(child.stop);
  const db = connect(accessOf(server.url, secrets), { service: 1, scoped: 1 });
  stops.push(db.close);
  const { keys } = await makeFixtures(db.sql, secrets);
  const made = await request(`${child.origin}/api/v1/requests/create`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys[0]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ account_id: idOf('b', 0), fiat_amount_int: 1250 }),
  });
  const { request_id } = (await made.body.json()) as { request_id: string };
  if (!request_id) throw new Error(`a request could not be made: ${made.statusCode}`);
  return { origin: child.origin, keys, payPage: `${child.origin}/pay/${request_id}` };
}

async function call(url: string, dispatcher: Agent, headers: Record<string, string> = {}): Promise<number> {
  const { statusCode, body } = await request(url, { dispatcher, headers });
  await body.dump();
  return statusCode;
}

/** The 95th percentile of the API's answer times in one arm, in milliseconds. */
async function callApi({ origin, keys }: Side): Promise<number> {
  const dispatcher = new Agent({ connections: clients });
  const until = performance.now() + seconds * 1000;
  const tookMs: number[] = [];
  let next = 0;
  const client = async () => {
    while (performance.now() < until) {
      const from = performance.now();
      const authorization = `Bearer ${keys[next++ % keys.length]}`;
      const status = await call(`${origin}/api/v1/requests?limit=1`, dispatcher, { authorization });
      if (status !== 200) throw new Error(`the API answered ${status}`);
      tookMs.push(performance.now() - from);
      await pause(betweenCallsMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await dispatcher.close();
  return tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length * 0.95)] ?? Number.NaN;
}

/** Opens the pay page over and over on all connections until the work is done. */
async function whileHammered<T>({ payPage }: Side, work: () => Promise<T>): Promise<T> {
  const dispatcher = new Agent({ connections: hammers });
  const ending = new AbortController();
  const hammer = async () => {
    while (!ending.signal.aborted) await call(payPage, dispatcher);
  };
  const hammering = Promise.all(Array.from({ length: hammers }, hammer));
  try {
    return await work();
  } finally {
    ending.abort();
    await hammering;
    await dispatcher.close();
  }
}

type Arm = { name: string; run: () => Promise<number>; seenMs: number[] };

function armsOf(name: string, side: Side): Arm[] {
  return [
    { name: `${name} alone`, run: () => callApi(side), seenMs: [] },
    { name: `${name} hammered`, run: () => whileHammered(side, () => callApi(side)), seenMs: [] },
  ];
}

/** Runs all arms each round, reversed every other one, so other load affects all alike. The first is a warm-up. */
async function measure(arms: Arm[]): Promise<void> {
  for (let round = 0; round <= rounds; round++) {
    for (const arm of round % 2 === 0 ? arms : arms.toReversed()) {
      const p95Ms = await arm.run();
      if (round > 0) arm.seenMs.push(p95Ms);
    }
  }
}

function show(title: string, values: number[], unit = ''): void {
  const { median, min, max } = spread(values);
  process.stdout.write(`${title}: ${median.toFixed(1)}${unit} (${min.toFixed(1)} to ${max.toFixed(1)})\n`);
}

const ratios = (arm: Arm, base: Arm) => arm.seenMs.map((seen, round) => seen / (base.seenMs[round] ?? Number.NaN));

try {
  const other = process.argv[2];
  const here = armsOf('here', await startSide(join(import.meta.dirname, '..')));
  const there = other ? armsOf('there', await startSide(resolve(other))) : [];
  await measure([...here, ...there]);
  process.stdout.write(`${machine()}; ${rounds} rounds of ${seconds} s per arm\n`);
  for (const { name, seenMs } of [...here, ...there]) show(`p95 of the API, ${name}`, seenMs, ' ms');
  for (const [alone, hammered] of [here, there] as [Arm, Arm][]) {
    if (hammered) show(`${hammered.name} to alone`, ratios(hammered, alone));
  }
  if (here[1] && there[1]) show('there hammered to here hammered', ratios(there[1], here[1]));
} finally {
  for (const stop of stops.reverse()) await stop();
}
