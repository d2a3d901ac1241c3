import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { until } from '../support/receiver.ts';
import { selfSigned } from '../support/self-signed.ts';
import { dataFolder, endAll } from '../support/service.ts';

let server: EmbeddedPostgres;

/** Whether a connection is encrypted, as the server sees it. */
async function isEncrypted(mode: string): Promise<boolean> {
  const db = connect(`${server.url}?sslmode=${mode}`, 1);
  try {
    const [row] = await db.sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  } finally {
    await db.close();
  }
}

before(async () => {
  const folder = dataFolder();
  server = await startEmbedded(folder);
  for (const [name, text] of Object.entries({ key: selfSigned.key, crt: selfSigned.cert })) {
    writeFileSync(join(folder, 'postgres', `server.${name}`), text, { mode: 0o600 });
  }
});
after(async () => {
  await server?.stop();
  await endAll();
});

test('sslmode=require and verify-full › a server without TLS gets no connection', async () => {
  for (const mode of ['require', 'verify-full']) await assert.rejects(isEncrypted(mode), mode);
});

test('sslmode=require › encrypted, whatever the certificate; verify-full › not with one that nobody signed', async () => {
  const admin = connect(server.url, 1);
  await admin.sql`alter system set ssl = on`;
  await admin.sql`select pg_reload_conf()`;
  await until(async () => (await admin.sql`show ssl`)[0]?.ssl === 'on', 'the server to speak TLS');
  await admin.close();
  assert.equal(await isEncrypted('require'), true);
  await assert.rejects(isEncrypted('verify-full'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});
