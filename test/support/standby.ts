import { execFileSync } from 'node:child_process';
import { appendFileSync, copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openOwner, type Sql } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { dataFolder } from './service.ts';

export type Cluster = {
  primary: EmbeddedPostgres;
  standby: EmbeddedPostgres;
  /** The standby as its owner, outside the service's connections. */
  onStandby<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
};

/**
 * A primary, prepared first, and a standby that follows it.
 *
 * @param programs the folder of another PostgreSQL
 */
export async function startCluster(prepare: (url: string) => Promise<void>, programs?: string): Promise<Cluster> {
  const [first, second] = [dataFolder(), dataFolder()];
  const alone = await startEmbedded(first, programs);
  await prepare(alone.url);
  await alone.stop();
  execFileSync('cp', ['-a', join(first, 'postgres'), join(second, 'postgres')]);
  copyFileSync(join(first, 'postgres.json'), join(second, 'postgres.json'));
  const primary = await startEmbedded(first, programs);
  const { hostname, port, username, password } = new URL(primary.url);
  writeFileSync(join(second, 'postgres/standby.signal'), '');
  appendFileSync(
    join(second, 'postgres/postgresql.auto.conf'),
    `primary_conninfo = 'host=${hostname} port=${port} user=${username} password=${password}'\n`,
  );
  const standby = await startEmbedded(second, programs);
  return {
    primary,
    standby,
    onStandby: async (work) => {
      const owner = openOwner(standby.url);
      return work(owner).finally(() => owner.end());
    },
    stop: async () => {
      await standby.stop();
      await primary.stop();
    },
  };
}
