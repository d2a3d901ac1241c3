import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Context } from '../context.ts';
import { countAlarms } from '../db/alarms.ts';

/** The metrics of this process and of the database, for Prometheus. Labels name no partner, merchant or request. */
export function openRegistry(ctx: Context): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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
    'Blocks between the provider’s head and the last block read',
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
  gauge('quittance_alarms', 'Raised alarms', ['kind', 'chain_id'], async (self) => {
    const counts = await countAlarms(ctx.db.sql);
    self.reset();
    for (const { kind, chain_id, raised } of counts) self.set({ kind, chain_id }, raised);
  });
  return registry;
}
