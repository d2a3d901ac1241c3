import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { chainStatus } from './chain/status.ts';
import type { Context } from './context.ts';
import { pendingMigrations } from './db/migrate.ts';

/** What readiness depends on: each part is `ok` or a sentence that says what is wrong. */
export type Readiness = { ready: boolean; parts: Record<string, string> };

/** Asks database, migrations and chains. */
async function checkReadiness(ctx: Context): Promise<Readiness> {
  const parts: Record<string, string> = { database: 'ok', migrations: 'ok' };
  try {
    const pending = await pendingMigrations(ctx.db.sql);
    if (pending.length > 0) parts.migrations = `not applied yet: ${pending.join(', ')}`;
  } catch (error) {
    parts.database = `cannot be reached: ${(error as Error).message}`;
    parts.migrations = 'unknown without the database';
  }
  for (const chain of await chainStatus(ctx)) {
    parts[`chain ${chain.chainId}`] = chain.reachable ? 'ok' : 'no provider answers';
  }
  return { ready: Object.values(parts).every((state) => state === 'ok'), parts };
}

/** `/healthz`: the process lives. `/readyz`: it can do its work. `/metrics`: figures for Prometheus. */
export function healthRoutes(app: FastifyInstance, ctx: Context): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addGauges(registry, ctx);
  const config = { auth: 'public' as const };
  app.get('/healthz', { config }, async (_request, reply) => reply.type('application/json').send('{"ok":true}'));
  app.get('/readyz', { config }, async (_request, reply) => {
    const { ready, parts } = await checkReadiness(ctx);
    return reply
      .code(ready ? 200 : 503)
      .type('application/json')
      .send(JSON.stringify({ ok: ready, ...parts }));
  });
  app.get('/metrics', { config }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}

function addGauges(registry: Registry, ctx: Context): void {
  const gauge = (name: string, help: string, labelNames: string[], collect: (self: Gauge) => Promise<void>) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        return collect(this);
      },
    });
  gauge(
    'quittance_chain_lag_blocks',
    'Blocks between the provider’s head and what was read',
    ['chain_id'],
    async (self) => {
      for (const row of await ctx.db.sql`select chain_id, head_number - number as lag from chain_cursors`) {
        self.set({ chain_id: row.chain_id }, Number(row.lag));
      }
    },
  );
  gauge('quittance_webhooks_due', 'Deliveries whose next attempt is due', [], async (self) => {
    const [row] = await ctx.db.sql`
      select count(*) as due from webhook_deliveries where state = 'waiting' and next_attempt_at <= now()`;
    self.set(Number(row?.due));
  });
  gauge('quittance_alarms', 'Alarms that are raised', ['name'], async (self) => {
    self.reset();
    for (const row of await ctx.db.sql`select name from alarms where cleared_at is null limit 100`)
      self.set({ name: row.name }, 1);
  });
}
