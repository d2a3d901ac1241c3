import { Pool } from 'undici';
import { openOwner } from '../../src/db/connection.ts';
import { identifiers } from '../../src/db/sql.ts';
import { buildServer } from '../../src/http/server.ts';
import { startChild } from '../child.ts';
import { clients, httpArm, names } from '../creates.ts';
import type { Figure, Finding } from '../figure.ts';
import { idOf, makeFixtures, shape } from '../fixtures.ts';
import { steps } from '../growth/lifecycle.ts';
import { type Measurement, modelRows } from '../growth/model.ts';
import { repeat } from '../post.ts';
import { cpuMs } from '../processor-time.ts';
import { type Stage, stageService } from '../stage.ts';
import { createBody } from '../statements.ts';

const seconds = Number(process.env.BENCH_SECONDS || 40);
/** The number of parts, because a statement of the service may take at most 30 seconds. */
const parts = 20;
const tables = ['requests', 'transfers', 'webhook_deliveries', 'webhook_attempts', 'amount_reservations'] as const;

type Service = Awaited<ReturnType<typeof stageService>>;

/** How many statements one call of each kind sends, including `begin` and `commit`. */
async function countStatements({ ctx, pools }: Service, key: string): Promise<Record<string, number>> {
  let sent = 0;
  for (const pool of [...ctx.db.pools, ...pools.pages.pools]) pool.observer = () => sent++;
  const app = await buildServer(ctx, pools.pages);
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const counted: Record<string, number> = {};
  /** Sends a call twice and counts the second one, because a process caches what the first one reads. */
  const call = async (name: string, path: string, body?: () => string) => {
    let answer: Record<string, string> = {};
    for (let i = 0; i < 2; i++) {
      sent = 0;
      const got = await fetch(`${origin}${path}`, { headers, ...(body && { method: 'POST', body: body() }) });
      if (!got.ok) throw new Error(`${name} answered ${got.status}`);
      const text = await got.text();
      if (path.startsWith('/api')) answer = JSON.parse(text);
    }
    counted[name] = sent;
    return answer;
  };
  const create = () => createBody(0, 999, crypto.randomUUID());
  const { request_id } = await call('create', '/api/v1/requests/create', create);
  await call('get', `/api/v1/requests/${request_id}`);
  await call('list', '/api/v1/requests?limit=100&since=2020-01-01');
  await call('pay page', `/pay/${request_id}`);
  await app.close();
  for (const pool of [...ctx.db.pools, ...pools.pages.pools]) pool.observer = null;
  return counted;
}

async function walOf(ctx: Service['ctx'], work: () => Promise<unknown>): Promise<number> {
  const at = async () => (await ctx.db.sql`select pg_current_wal_insert_lsn() - '0/0' as at`)[0]?.at;
  const from = Number(await at());
  await work();
  return Number(await at()) - from;
}

async function measure(stage: Stage): Promise<Finding> {
  const service = await stageService(stage);
  const { ctx, env } = service;
  const { keys } = await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const statements = await countStatements(service, keys[0] as string);
  const owner = openOwner(env.DATABASE_URL as string);
  stage.onEnd(() => owner.end());
  const server = await startChild('server.ts', env);
  stage.onEnd(server.stop);
  const http = httpArm(names.http, server, keys, stage.folder);
  await http.run(3);
  await owner`checkpoint`;

  const count = async () => Number((await ctx.db.sql`select count(*)::int as n from requests`)[0]?.n);
  const [countedBefore, cpuBefore] = [await count(), cpuMs(server.pid)];
  let rate = 0;
  const createWal = await walOf(ctx, async () => {
    rate = await http.run(seconds);
  });
  const created = (await count()) - countedBefore;
  const createCpuMs = (cpuMs(server.pid) - cpuBefore) / created;

  const gets = new Pool(server.origin, { connections: clients, pipelining: 1 });
  stage.onEnd(() => gets.destroy());
  const ids = await ctx.db.sql<{ id: string; partner: number }[]>`
    select id, right(partner_id::text, 12)::int as partner from requests order by random() limit 4000`;
  let calls = 0;
  const cpuOfGets = cpuMs(server.pid);
  await repeat(clients, 5, async () => {
    const { id, partner } = ids[calls % ids.length] as { id: string; partner: number };
    const key = keys[partner + shape.partners * (calls++ % (shape.keys / shape.partners))];
    const { body, statusCode } = await gets.request({
      ...{ method: 'GET', path: `/api/v1/requests/${id}`, headers: { authorization: `Bearer ${key}` } },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a get answered ${statusCode}`);
  });
  const getCpuMs = (cpuMs(server.pid) - cpuOfGets) / calls;

  const total = await count();
  await owner.unsafe(`create table numbered as select partner_id, test_mode, id, account_id, wallet_address, usdc_micro,
    row_number() over (order by created_at)::int as number from requests;
    create index on numbered (number); grant select on numbered to quittance_service`);
  const wal: Record<string, number> = { 'request created': createWal / created };
  // In parts, with a vacuum after each, so that space is reused as it is over a year.
  for (let at = 0; at < parts; at++) {
    for (const step of steps) {
      const bytes = await walOf(ctx, () => step.run(ctx.db.sql, { of: parts, at }));
      wal[step.name] = (wal[step.name] ?? 0) + bytes / (total * step.share);
    }
    await owner.unsafe(`vacuum ${tables.join(', ')}`);
  }
  await owner`vacuum analyze`;
  const sizes: Measurement['sizes'] = {};
  for (const table of tables) {
    const [row] = await owner`
      select (select count(*)::int from ${identifiers(table)}) as rows, sum(pg_table_size(part))::float8 as heap,
        sum(pg_indexes_size(part))::float8 as indexes
      from (select ${table}::text::regclass as part
        union all select inhrelid from pg_inherits where inhparent = ${table}::text::regclass) parts`;
    sizes[table] = { rows: Number(row?.rows), heap: Number(row?.heap), indexes: Number(row?.indexes) };
  }
  if (sizes.webhook_attempts?.rows === 0) throw new Error(`nothing was delivered to ${idOf('a', 0)} and the others`);
  const measurement = { wal, sizes, statements, created, rate, createCpuMs, getCpuMs };
  return modelRows(measurement);
}

export const figure: Figure = {
  what: 'What 10,000 partners with 100 million requests a month need, from a smaller database that was really filled.',
  limitMinutes: 8,
  measure,
};
