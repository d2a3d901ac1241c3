import { Pool } from 'undici';
import { scopeOf } from '../src/auth/scope.ts';
import type { Context } from '../src/context.ts';
import { openOwner, type Scope, usualWaits } from '../src/db/connection.ts';
import { accessOf } from '../src/db/logins.ts';
import { buildServer } from '../src/http/server.ts';
import { browseRequests } from '../src/requests/lists/browse.ts';
import { idOf, makeFixtures, shape } from './fixtures.ts';
import { makeRequests } from './requests.ts';
import { type Stage, stageService } from './stage.ts';

/** Requests of partner 0, which has half of all, and its merchant 0, which has half of these. */
export type ReadStage = {
  ctx: Context;
  scope: Scope;
  accountId: string;
  /** The address with which pgbench logs in. */
  databaseUrl: string;
  ownerUrl: string;
  /** Calls of the API with a key of partner 0. */
  get(path: string): Promise<void>;
  create(body: string): Promise<void>;
  /** The portal's search. */
  search(text: string): Promise<unknown>;
};

/** Analyses all tables, as their owner. */
export async function analyze(ownerUrl: string): Promise<void> {
  const owner = openOwner(ownerUrl, { ...usualWaits, answer: 600 });
  await owner`analyze`.finally(() => owner.end());
}

export async function openReadStage(stage: Stage, count: number): Promise<ReadStage> {
  const { ctx, pools, env } = await stageService(stage);
  const { sql } = ctx.db;
  const { keys } = await makeFixtures(sql, ctx.config.secretKeys);
  await makeRequests(sql, count);
  await analyze(env.DATABASE_URL as string);
  // The server runs in this process, so that its statements can be observed.
  const app = await buildServer(ctx, pools.pages);
  stage.onEnd(() => app.close());
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const pool = new Pool(origin, { connections: 1, pipelining: 1 });
  stage.onEnd(() => pool.destroy());
  const own = keys.filter((_, n) => n % shape.partners === 0);
  let calls = 0;
  const call = async (path: string, body?: string) => {
    // Resets the counters, because each key may call 60 times a minute.
    if (++calls % (50 * own.length) === 0) await sql`delete from rate_counters`;
    const headers = {
      authorization: `Bearer ${own[calls % own.length]}`,
      ...(body && { 'content-type': 'application/json' }),
    };
    const answer = await pool.request({ path, method: body ? 'POST' : 'GET', headers, body: body ?? null });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`);
  };
  const scope = scopeOf(idOf('a', 0), true);
  return {
    ...{ ctx, scope, accountId: idOf('b', 0), ownerUrl: env.DATABASE_URL as string },
    databaseUrl: accessOf(env.DATABASE_URL as string, ctx.config.secretKeys).service,
    get: (path) => call(path),
    create: (body) => call('/api/v1/requests/create', body),
    search: (search) => browseRequests(ctx, scope, { search }, null),
  };
}
