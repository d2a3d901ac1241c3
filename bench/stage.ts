import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../src/config.ts';
import { openOwner, usualWaits } from '../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../src/db/embedded.ts';
import { openService, type RunningService } from '../src/service.ts';
import { writeIdleChains } from './idle-chains.ts';

/** The surroundings of a figure: a temporary folder, and functions that stop what was started, the newest first. */
export type Stage = { folder: string; onEnd(stop: () => unknown): void; args: string[] };

/** Opens a stage. `clear` stops everything that was started on it. */
export function openStage(args: string[]): Stage & { clear(): Promise<void> } {
  const stops: Array<() => unknown> = [];
  const folder = mkdtempSync(join(tmpdir(), 'quittance-bench-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    args,
    onEnd: (stop) => stops.push(stop),
    async clear() {
      for (const stop of stops.splice(0).reverse()) await stop();
    },
  };
}

/** As `docs/operating.md` recommends for a separate database server, with room for the clients of an arm. */
const serverSettings = { shared_buffers: '2GB', max_wal_size: '4GB', max_connections: '200' };

/** Starts a separate, durable PostgreSQL for the figure, with further settings if it needs any. */
export async function stageDatabase(stage: Stage, settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  const fresh = await startEmbedded(stage.folder);
  const owner = openOwner(fresh.url, usualWaits);
  for (const [name, value] of Object.entries({ ...serverSettings, ...settings })) {
    await owner.unsafe(`alter system set ${name} = '${value}'`);
  }
  await owner.end();
  await fresh.stop();
  const postgres = await startEmbedded(stage.folder);
  stage.onEnd(postgres.stop);
  return postgres;
}

const secretKeys = `bench:${Buffer.alloc(32, 7).toString('base64')}`;

/** The environment of a service on this database, with chains that have nothing to watch. */
export function benchEnv(stage: Stage, databaseUrl: string): Record<string, string> {
  const { folder } = stage;
  return {
    ...{ DATABASE_URL: databaseUrl, DATA_DIR: folder, CHAINS_FILE: writeIdleChains(folder) },
    ...{ LOG_LEVEL: 'warn', SECRET_KEYS: secretKeys },
  };
}

/** Opens the service in this process, on a database of its own, without its loops and its server. */
export async function stageService(
  stage: Stage,
  more: Record<string, string> = {},
  settings: Record<string, string> = {},
): Promise<RunningService & { env: Record<string, string> }> {
  const postgres = await stageDatabase(stage, settings);
  const env = { ...benchEnv(stage, postgres.url), ...more };
  const service = await openService(readConfig(env));
  stage.onEnd(service.close);
  return { ...service, env };
}
