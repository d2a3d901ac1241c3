import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { selectLags } from '../chain/cursors.ts';
import { type RelayerStatus, relayerStatus } from '../chain/relay/status.ts';
import { allChains } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { countAlarms } from '../db/alarms.ts';
import { machineAheadMs } from '../db/database-clock.ts';
import { listLockedTables, listLockWaits } from '../db/lock-waits.ts';
import { missingKeys } from '../db/secret-keys.ts';
import { isFull, isWritable } from '../db/writable.ts';
import { within } from '../lib/time.ts';
import { listRates } from '../rates/list.ts';
import { countDue } from '../webhooks/stuck.ts';
import { callSeconds } from './call-metrics.ts';

/** The metrics of this process and of the database, for Prometheus. Labels name no partner, merchant or request. */
export function openRegistry(ctx: Context): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registry.registerMetric(callSeconds);
  const gauge: MakeGauge = (name, help, labelNames, collect, keepsLast = false) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        return inTime(collect(this)).catch((error) => {
          ctx.log.warn({ err: error, metric: name }, 'a metric could not be read');
          if (keepsLast) return;
          // No value is reported then, neither an old one nor the zero of a reset gauge without labels.
          this.reset();
          if (labelNames.length === 0) this.remove();
        });
      },
    });
  databaseGauge(ctx, registry);
  readerGauge(ctx, registry);
  clockGauge(ctx, registry);
  // The last values of a chain that was removed from CHAINS_FILE would otherwise be reported for ever.
  const chainIds = allChains(ctx.chains).map(({ chainId }) => String(chainId));
  const readLags = forOneScrape(async () =>
    (await selectLags(ctx.db.sql)).filter(({ chainId }) => chainIds.includes(chainId)),
  );
  gauge(
    'quittance_chain_lag_blocks',
    'Blocks between the provider’s head and the last block read of each chain in CHAINS_FILE',
    ['chain_id'],
    async (self) => {
      for (const { chainId, blocks } of await readLags()) self.set({ chain_id: chainId }, blocks);
    },
  );
  gauge(
    'quittance_chain_block_age_seconds',
    'Age of the last block read of each chain in CHAINS_FILE',
    ['chain_id'],
    async (self) => {
      for (const { chainId, ageSeconds } of await readLags()) self.set({ chain_id: chainId }, ageSeconds);
    },
  );
  gauge(
    'quittance_webhooks_due',
    `Deliveries that are due at endpoints that take them; at most ${maxDueCounted}`,
    [],
    async (self) => self.set(await countDue(ctx, maxDueCounted)),
  );
  const lockHelp = 'How long a statement has waited for a table or a row that another session holds; 0 if none waits';
  gauge('quittance_lock_wait_seconds', lockHelp, [], async (self) => {
    self.set((await listLockWaits(ctx.db.sql))[0]?.seconds ?? 0);
  });
  gauge('quittance_tables_locked', 'Locks of other sessions that keep others from a table', [], async (self) => {
    self.set((await listLockedTables(ctx.db.sql)).length);
  });
  rateGauges(ctx, gauge);
  gauge('quittance_secret_keys_missing', 'Secret keys that other nodes use and this one lacks', [], async (self) => {
    self.set((await missingKeys(ctx.db.sql, ctx.config.secretKeys)).length);
  });
  const setAlarms = async (self: Gauge) => {
    const counts = await countAlarms(ctx.db.sql);
    self.reset();
    for (const { kind, chain_id, raised } of counts) self.set({ kind, chain_id }, raised);
  };
  // No alarm ends while the database does not answer. Without a value, Prometheus would take an alarm for ended.
  gauge('quittance_alarms', 'Raised alarms, as last read', ['kind', 'chain_id'], setAlarms, true);
  relayerGauges(ctx, gauge);
  return registry;
}

/** Deliveries are counted up to here, so that a scrape costs the same however many wait. */
const maxDueCounted = 10_000;

/** Less than Prometheus waits for a scrape, which would otherwise miss the metrics of the process as well. */
const collectMs = 5_000;

const inTime = <T>(work: Promise<T>): Promise<T> => within(work, collectMs, () => new Error('no answer in time'));

/** Distinguishes a node that runs without its database from one that is down: the former needs no restart. */
function databaseGauge(ctx: Context, registry: Registry): void {
  new Gauge({
    name: 'quittance_database_up',
    help: 'Whether the database answers this node and accepts changes',
    registers: [registry],
    async collect() {
      const isUp = await inTime(isWritable(ctx.db.sql)).catch(() => false);
      this.set(isUp ? 1 : 0);
    },
  });
  new Gauge({
    name: 'quittance_database_full',
    help: 'Whether a statement of this node failed in the last five minutes because a disk of the database was full',
    registers: [registry],
    collect() {
      this.set(isFull(ctx.db) ? 1 : 0);
    },
  });
}

/** Nothing fails without the standby, so only this metric shows that the primary does its work. */
function readerGauge({ db }: Context, registry: Registry): void {
  const { readsApart } = db;
  if (!readsApart) return;
  new Gauge({
    name: 'quittance_reader_up',
    help: 'Whether lists are read from the standby of DATABASE_READ_URL: it answers, and is not behind',
    registers: [registry],
    async collect() {
      this.set((await inTime(readsApart()).catch(() => false)) ? 1 : 0);
    },
  });
}

function clockGauge({ clock }: Context, registry: Registry): void {
  new Gauge({
    name: 'quittance_clock_ahead_seconds',
    help: 'How far this machine’s clock is ahead of the database’s; negative if it is behind',
    registers: [registry],
    collect() {
      this.set(machineAheadMs(clock) / 1000);
    },
  });
}

/** @param keepsLast whether the values that were read last are reported while none can be read */
type MakeGauge = (
  name: string,
  help: string,
  labelNames: string[],
  collect: (self: Gauge) => Promise<void>,
  keepsLast?: boolean,
) => Gauge;

/**
 * Every create needs a rate. A rate that an operator has set does not age, so if all are set, missing fetches do not
 * matter.
 */
function rateGauges(ctx: Context, gauge: MakeGauge): void {
  const read = forOneScrape(() => listRates(ctx));
  const help = 'How long ago the rates that no operator has set were last fetched; 0 where all are set';
  gauge('quittance_rates_age_seconds', help, [], async (self) => {
    const rates = await read();
    const areAllSet = rates.length > 0 && rates.every(({ override }) => override);
    const fetched = rates.flatMap(({ fetched_at }) => (fetched_at === null ? [] : [Date.parse(fetched_at)]));
    const lastMs = Math.max(Number.NEGATIVE_INFINITY, ...fetched);
    self.set(areAllSet ? 0 : (ctx.clock.now().getTime() - lastMs) / 1000);
  });
  gauge('quittance_rates_unusable', 'Currencies whose rate is too old for new requests', [], async (self) => {
    self.set((await read()).filter(({ usable }) => !usable).length);
  });
}

/** The label `address` names only the operator's own wallets. */
function relayerGauges(ctx: Context, gauge: MakeGauge): void {
  const figures: [name: string, help: string, figure: (status: RelayerStatus) => bigint | number | null][] = [
    ['balance_wei', 'What an address of the relayer holds, in wei', ({ balanceWei }) => balanceWei],
    ['pending', 'Relayed transactions that are not mined', ({ pending }) => pending],
    ['stuck', 'Relayed transactions that have not been mined for ten minutes', ({ stuck }) => stuck],
    ['ready', 'Whether an address of the relayer can send', ({ blocker }) => (blocker === null ? 1 : 0)],
  ];
  const read = forOneScrape(() => relayerStatus(ctx));
  for (const [name, help, figure] of figures) {
    gauge(`quittance_relayer_${name}`, help, ['chain_id', 'address'], async (self) => {
      self.reset();
      for (const status of await read()) {
        const value = figure(status);
        const labels = { chain_id: String(status.chain.chainId), address: status.address };
        if (value !== null) self.set(labels, Number(value));
      }
    });
  }
  gauge('quittance_relayer_spent_today_wei', 'Fees since midnight UTC, in wei', ['chain_id'], async (self) => {
    self.reset();
    for (const { chain, spentTodayWei } of await read()) {
      self.set({ chain_id: String(chain.chainId) }, Number(spentTodayWei));
    }
  });
}

/** Reads once for all metrics of one scrape: a result is used for a second. */
function forOneScrape<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | null = null;
  return () => {
    const atMs = performance.now();
    if (!last || atMs - last.atMs > 1_000) last = { atMs, answer: read() };
    return last.answer;
  };
}
