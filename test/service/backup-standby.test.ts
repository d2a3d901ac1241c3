import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openOwner } from '../../src/db/connection.ts';
import { migrate } from '../../src/db/migrate.ts';
import { secretsText } from '../support/fixtures.ts';
import { dataFolder, endAll } from '../support/service.ts';
import { type Cluster, startCluster } from '../support/standby.ts';
import { until } from '../support/until.ts';

const programs = '/usr/lib/postgresql/15';
const skip = !existsSync(join(programs, 'bin/pg_dump')) && 'needs PostgreSQL 15';
const script = join(import.meta.dirname, '../../bin/quittance');

describe('a backup of a standby', { skip }, () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster(async (url) => {
      const owner = openOwner(url);
      await migrate(owner).finally(() => owner.end());
    }, programs);
  });
  after(async () => {
    await cluster?.stop();
    await endAll();
  });

  test('DATABASE_OWNER_URL leads to a standby → the backup is made there and is whole', async () => {
    const primary = openOwner(cluster.primary.url);
    await primary`insert into rate_overrides (code, rate) values ('EUR', '0.92')`;
    const isThere = () => cluster.onStandby((sql) => sql`select from rate_overrides`);
    await until(async () => (await isThere()).length === 1, 'the standby to have it');
    await primary.end();
    const folder = dataFolder();
    const env = { DATABASE_OWNER_URL: cluster.standby.url, DATABASE_URL: 'postgres://127.0.0.1:1/none' };
    const file = join(folder, 'standby.dump');
    await promisify(execFile)(script, ['backup', file], {
      env: { ...process.env, ...env, SECRET_KEYS: secretsText, DATA_DIR: folder },
    });
    const restored = join(programs, 'bin/pg_restore');
    const { stdout } = await promisify(execFile)(restored, ['--data-only', '--table=rate_overrides', '--file=-', file]);
    assert.match(stdout, /^EUR\t0\.92/m);
  });
});
