import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openOwner } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { selfSigned } from '../support/net/self-signed.ts';
import { dataFolder, endAll } from '../support/service.ts';
import { until } from '../support/until.ts';

let server: EmbeddedPostgres;

/** Whether the server sees the connection as encrypted. */
async function isEncrypted(mode: string): Promise<boolean> {
  const owner = openOwner(`${server.url}?sslmode=${mode}`);
  try {
    const [row] = await owner`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row?.ssl;
  } finally {
    await owner.end();
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
  const admin = openOwner(server.url);
  await admin`alter system set ssl = on`;
  await admin`select pg_reload_conf()`;
  await until(async () => (await admin`show ssl`)[0]?.ssl === 'on', 'the server to speak TLS');
  await admin.end();
  assert.equal(await isEncrypted('require'), true);
  await assert.rejects(isEncrypted('verify-full'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});
