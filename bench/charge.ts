import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { callRpc, toHex } from '../src/chain/rpc.ts';
import { readConfig } from '../src/config.ts';
import type { Context } from '../src/context.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { runJobs } from '../src/jobs.ts';
import { pause } from '../src/lib/time.ts';
import { startDevChain } from '../src/sandbox/chain.ts';
import { openService } from '../src/service.ts';
import { chargeShape, makeChargeFixtures } from './charge-fixtures.ts';
import { startCountingProxy } from './counting-proxy.ts';
import { writeIdleChains } from './idle-chains.ts';
import { machine } from './report.ts';

/**
 * Measures how long it takes to charge 1,000 plans that are due at midnight, and how often the chain's provider is
 * called for it: `npm run bench:charge`, about two minutes. One process runs all loops of the service against anvil,
 * which makes a block every second.
 */
const blockSeconds = 1;
const limitMs = 240_000;
const stops: Array<() => unknown> = [];

async function end(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

type Progress = { requests: number; sent: number; mined: number; verified: number };

async function readProgress({ db }: Context): Promise<Progress> {
  const [row] = await db.sql<Progress[]>`
    select (select count(*)::int from collections) as requests,
      (select count(*)::int from collections where relay_id is not null) as sent,
      (select count(*)::int from transfers) as mined,
      (select count(*)::int from requests where proof_status = 'verified') as verified`;
  return row as Progress;
}

async function run(): Promise<void> {
  const load = loadavg()[0]?.toFixed(1) ?? '';
  const folder = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startEmbedded(folder);
  stops.push(postgres.stop);
  const node = await startDevChain(31337, folder);
  stops.push(node.stop);
  const proxy = await startCountingProxy(node.url);
  stops.push(proxy.close);
  const config = readConfig({
    ...{ DATABASE_URL: postgres.url, DATA_DIR: folder, CHAINS_FILE: writeIdleChains(folder), LOG_LEVEL: 'warn' },
    RELAYER_KEYS: `0x${'52'.repeat(32)}`,
  });
  const service = await openService(config);
  stops.push(service.close);
  const chain = { ...node.chain, rpcUrls: [proxy.url], pollMs: 250 };
  const ctx = { ...service.ctx, chains: { test: [chain], live: [] } };
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  process.stdout.write('Plans, wallets and mandates …\n');
  await makeChargeFixtures(ctx, node.url, node.chain, midnight);
  const relayer = config.relayer.signers[0]?.address;
  await callRpc(node.url, 'anvil_setBalance', [relayer, toHex(1000n * 10n ** 18n)]);
  await callRpc(node.url, 'evm_setIntervalMining', [blockSeconds]);
  await ctx.db.sql`vacuum analyze`;
  const plans = await ctx.db.sql`update plans set due_at = null, state = 'paused' returning id`;

  // The loops run and find nothing to do; then it strikes midnight.
  const stop = new AbortController();
  const jobs = runJobs({ ...ctx, db: service.pools.loops }, stop.signal);
  stops.push(() => {
    stop.abort();
    return jobs;
  });
  await pause(5000);
  proxy.calls.clear();
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const seconds = () => (performance.now() - began) / 1000;
  await ctx.db.sql`update plans set due_at = ${midnight}, state = 'active'`;
  const reached: Partial<Record<keyof Progress, number>> = {};
  while (seconds() * 1000 < limitMs) {
    const progress = await readProgress(ctx);
    for (const name of ['requests', 'sent', 'mined', 'verified'] as const) {
      if (progress[name] >= plans.length) reached[name] ??= seconds();
    }
    process.stdout.write(`  ${seconds().toFixed(0)} s: ${JSON.stringify(progress)}\n`);
    if (reached.verified !== undefined) break;
    await pause(1000);
  }
  const cpu = process.cpuUsage(cpuBefore);
  if (reached.verified === undefined) throw new Error('not all charges were verified in time');
  report(proxy.calls, reached as Record<keyof Progress, number>, (cpu.user + cpu.system) / 1e6, load);
}

function report(
  calls: Map<string, number>,
  reached: Record<keyof Progress, number>,
  cpuSeconds: number,
  load: string,
): void {
  const { plans, partners } = chargeShape;
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0);
  const lines = [
    `${machine()}, load before the run ${load}`,
    `${plans} plans of ${partners} partners, due at one moment; a block every ${blockSeconds} s`,
    `requests made after ${reached.requests.toFixed(1)} s, all sent after ${reached.sent.toFixed(1)} s, all mined after`,
    `${reached.mined.toFixed(1)} s, all verified after ${reached.verified.toFixed(1)} s`,
    `${(plans / reached.sent).toFixed(1)} charges sent a second, ${(plans / reached.verified).toFixed(1)} verified a second`,
    `${((cpuSeconds / plans) * 1000).toFixed(1)} ms of the process per charge`,
    `${(all / plans).toFixed(2)} calls of the provider per charge:`,
    ...[...calls].sort(([, a], [, b]) => b - a).map(([method, count]) => `  ${method}: ${(count / plans).toFixed(3)}`),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const timer = setTimeout(() => process.exit(1), limitMs + 60_000);
try {
  await run();
} finally {
  clearTimeout(timer);
  await end();
}
