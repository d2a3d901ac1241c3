import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { reasonOf } from '../../src/cli/running.ts';
import { connect, openOwner } from '../../src/db/connection.ts';
import { type EmbeddedPostgres, startEmbedded } from '../../src/db/embedded.ts';
import { buildServer } from '../../src/http/server.ts';
import { checksum62 } from '../../src/lib/text/base62.ts';
import { assertRefused, send } from '../support/api/client.ts';
import { testContext } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { secretsText } from '../support/fixtures.ts';
import { selfSigned } from '../support/net/self-signed.ts';
import { dataFolder, endAll, runService } from '../support/service.ts';
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

test('a certificate that is not accepted, as an expired one › calls are answered 503; a start and a command name it', async () => {
  const url = `${server.url}?sslmode=verify-full`;
  const db = connect(accessTo(url));
  const node = await buildServer(testContext(db));
  try {
    const origin = await node.listen({ host: '127.0.0.1', port: 0 });
    const body = `qt_test_${'a'.repeat(32)}`;
    const answer = await send(origin, 'GET', '/api/v1/requests', { key: body + checksum62(body) });
    assertRefused(answer, 503, 'unavailable');
  } finally {
    await node.close();
    await db.close();
  }
  const { code, stderr } = await runService({ DATABASE_URL: url, DATA_DIR: dataFolder(), SECRET_KEYS: secretsText });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^Quittance cannot start. The database of DATABASE_URL cannot be used: self-signed certificate.*\. Check the certificate of the server, /m,
  );
  const error = await isEncrypted('verify-full').catch((reason: unknown) => reason);
  assert.match(
    reasonOf(error, true),
    /self-signed certificate.*\. Check the certificate of the server, and .+ NODE_EXTRA_CA_CERTS/,
  );
});
