import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, openOwner } from '../../src/db/connection.ts';
import { startEmbedded } from '../../src/db/embedded.ts';
import { ensureLogins } from '../../src/db/logins.ts';
import { migrate } from '../../src/db/migrate.ts';
import { buildServer } from '../../src/http/server.ts';
import { assertRefused, send } from '../support/api/client.ts';
import { testContext } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { makeKey, makePartner, testSecrets } from '../support/fixtures.ts';
import { dataFolder, endAll } from '../support/service.ts';

let folder: string;
let stopServer = async () => {};
before(() => {
  folder = dataFolder();
});
after(async () => {
  await stopServer();
  await endAll();
});

async function startServer(): Promise<string> {
  const server = await startEmbedded(folder);
  stopServer = server.stop;
  return server.url;
}

test('a database that was demoted to a standby → calls are answered 503 unavailable, and so is /readyz; promoted → as before', async () => {
  const owner = openOwner(await startServer());
  await migrate(owner);
  await ensureLogins(owner, testSecrets);
  await owner.end();
  const url = await startServer();
  const db = connect(accessTo(url));
  const app = await buildServer(testContext(db, { chains: { test: [], live: [] } }));
  const node = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const { test: scope } = await makePartner(db);
    const { key } = await makeKey(db, scope);
    assert.equal((await send(node, 'GET', '/api/v1/requests', { key })).status, 200);

    await stopServer();
    writeFileSync(join(folder, 'postgres/standby.signal'), '');
    assert.equal(await startServer(), url);
    assertRefused(await send(node, 'GET', '/api/v1/requests', { key }), 503, 'unavailable');
    assert.equal((await send(node, 'GET', '/readyz')).status, 503);
    const admin = openOwner(url);
    await admin`select pg_promote()`;
    await admin.end();
    assert.equal((await send(node, 'GET', '/api/v1/requests', { key })).status, 200);
  } finally {
    await app.close();
    await db.close();
  }
});
