import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { embeddedUrl } from '../../src/db/embedded.ts';
import type { Pool } from '../../src/db/pool.ts';
import { pause } from '../../src/lib/time.ts';
import { openOne } from '../support/database.ts';
import { dataFolder, endAll, type Service, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

const windowMs = 60_000;
const maxPerSecond = 2;

/** A sandbox as `npm start` makes it: embedded server, two idle chains, a demo partner. */
describe('a service with nothing to do', () => {
  let service: Service;
  let admin: Pool;
  const folder = dataFolder();

  before(async () => {
    service = await startService({ DATA_DIR: folder });
    admin = openOne(embeddedUrl(folder) ?? '', { application_name: 'counting' });
    await admin`alter system set log_statement = 'all'`;
    await admin`alter system set log_line_prefix = '%a sent '`;
    await admin`select pg_reload_conf()`;
  });
  after(async () => {
    await admin?.end();
    await service?.stop();
    await endAll();
  });

  /** The statements that the service has sent, from the server's log. */
  const sent = () =>
    readFileSync(join(folder, 'postgres.log'), 'utf8')
      .split(/^(?=[\w[\]]* sent [A-Z]+: )/m)
      .flatMap((entry) => /^quittance sent LOG: {2}(?:statement|execute [^:]*): (.*)/s.exec(entry)?.[1] ?? [])
      .map((text) => text.replace(/\s+/g, ' ').trim().slice(0, 90));

  test('a minute without calls, blocks or due work → at most two statements a second', async () => {
    await until(async () => {
      const before = sent().length;
      await pause(5_000);
      const now = sent().length;
      return now > before && now - before <= 5 * maxPerSecond;
    }, 'what follows the start to be over');
    const before = sent().length;
    await pause(windowMs);
    const texts = sent().slice(before);
    const bySender = [...Map.groupBy(texts, (text) => text)]
      .map(([text, all]) => `${String(all.length).padStart(4)}  ${text}`)
      .sort()
      .reverse();
    assert.ok(
      texts.length > 0 && texts.length <= (maxPerSecond * windowMs) / 1000,
      `${texts.length}:\n${bySender.join('\n')}`,
    );
  });
});
