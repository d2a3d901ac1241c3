import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import type { Context } from '../src/context.ts';
import { startEmbedded } from '../src/db/embedded.ts';
import { accessOf } from '../src/db/logins.ts';
import { openService } from '../src/service.ts';
import { startChild } from './child.ts';
import * as creates from './creates.ts';
import * as deliveries from './deliveries.ts';
import { makeEndpoints, makeFixtures, shape } from './fixtures.ts';
import { writeIdleChains } from './idle-chains.ts';
import { type Figure, line, machine, writeReport } from './report.ts';
import { interleave } from './rounds.ts';
import { readStatements } from './statements.ts';

/**
 * Measures what creates and deliveries cost compared with the bare work: `npm run bench`, about three minutes. Only the
 * ratios of arms that take turns on one machine matter; figures per second depend on the machine.
 */
const rounds = Number(process.env.BENCH_ROUNDS || 8);
const seconds = 3;
const limitMs = 235_000;
const stops: Array<() => unknown> = [];

async function end(): Promise<void> {
  for (const stop of stops.splice(0).reverse()) await stop();
}

function giveUp(reason: string): void {
  process.stderr.write(`${reason}\n`);
  void end().finally(() => process.exit(1));
}

/** Starts its own durable PostgreSQL in the temporary folder, for a service with no chain to watch. */
async function start(): Promise<{ ctx: Context; env: Record<string, string>; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await startEmbedded(folder);
  stops.push(postgres.stop);
  const env = { DATABASE_URL: postgres.url, DATA_DIR: folder, CHAINS_FILE: writeIdleChains(folder) };
  const service = await openService(readConfig(env));
  stops.push(service.close);
  return { ctx: service.ctx, env, folder };
}

async function measureCreates({
  ctx,
  env,
  folder,
}: Awaited<ReturnType<typeof start>>): Promise<{ figure: Figure | null; statements: string[] }> {
  const fixtures = await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const { statements, script } = await readStatements(ctx, fixtures.keys[0] as string);
  const program = creates.findPgbench();
  if (!program) {
    process.stdout.write('pgbench was not found, so creates are left out: apt-get install postgresql\n');
    return { figure: null, statements };
  }
  const server = await startChild('server.ts', env);
  const http = creates.httpArm(server, fixtures.keys);
  const pgbench = creates.pgbenchArm(
    program,
    accessOf(env.DATABASE_URL as string, ctx.config.secretKeys).service,
    script,
    folder,
  );
  stops.push(server.stop, http.close);
  process.stdout.write('Creates:\n');
  const measured = await interleave([http, pgbench], rounds, seconds);
  await http.close();
  await server.stop();
  const what =
    `${creates.clients} clients with kept connections, one server process and one for all clients, ${shape.keys} keys of ` +
    `${shape.partners} partners in turn, ${shape.merchants} merchants, an idempotency key each, against pgbench with ` +
    `${creates.clients} clients (\`-M prepared\`) sending the same two statements with random keys to the same server. ` +
    'Every create is on the disk before it is answered.';
  const { http: arm, pgbench: base } = creates.names;
  return { figure: { title: 'Creates over HTTP', arm, base, what, measured }, statements };
}

async function measureDeliveries({ ctx }: Awaited<ReturnType<typeof start>>): Promise<Figure> {
  const receiver = await startChild('receiver.ts', {});
  stops.push(receiver.stop);
  await makeEndpoints(ctx.db.sql, ctx.config.secretKeys, receiver.origin);
  const prepared = await deliveries.prepareDeliveries(ctx.db.sql);
  await ctx.db.sql`vacuum analyze`;
  process.stdout.write('Deliveries:\n');
  const arms = [deliveries.loopArm(ctx), deliveries.bareArm(ctx, receiver.origin, prepared)];
  const measured = await interleave(arms, rounds, seconds);
  const what =
    `the delivery loop with ${shape.receivers} partners’ endpoints at one receiver (claim under lease, two signatures, ` +
    'guarded POST, attempt and result on the disk) against POSTs of the same bodies with one HMAC each, as many at once, ' +
    'from the same process to the same receiver.';
  return { title: 'Signed deliveries', arm: deliveries.names.loop, base: deliveries.names.bare, what, measured };
}

const timer = setTimeout(() => giveUp(`The benchmark took more than ${limitMs / 1000} s.`), limitMs);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => giveUp('Broken off.'));
try {
  const load = loadavg()[0]?.toFixed(1) ?? '';
  const started = await start();
  const [server] = await started.ctx.db.sql`show server_version`;
  const { figure, statements } = await measureCreates(started);
  const figures = [figure, await measureDeliveries(started)].filter((measured) => measured !== null);
  writeReport(figures, statements, { rounds, seconds, postgres: server?.server_version, load });
  process.stdout.write(`\n${statements.join('\n\n')}\n\n${machine()}\n${figures.map(line).join('\n')}\n`);
} finally {
  clearTimeout(timer);
  await end();
}
