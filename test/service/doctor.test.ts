import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { listLockWaits } from '../../src/db/lock-waits.ts';
import type { Pool } from '../../src/db/pool.ts';
import { openOne, testDatabase } from '../support/database.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makePartner, randomAddress, secretsText } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { dataFolder } from '../support/service.ts';
import { until } from '../support/until.ts';

const script = join(import.meta.dirname, '../../bin/quittance');
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database.drop());

type Finding = { check: string; state: string; advice: string };

/** What `doctor` finds, as an operator runs it, and its exit code. */
function diagnose(env: NodeJS.ProcessEnv): Promise<{ code: number; findings: Finding[] }> {
  return new Promise((resolve, reject) => {
    const options = { env: { ...process.env, SECRET_KEYS: secretsText, ...env }, timeout: patienceMs };
    execFile(script, ['doctor', '--json'], options, (error, stdout, stderr) => {
      if (stderr) return reject(new Error(stderr));
      resolve({ code: error ? Number(error.code ?? 1) : 0, findings: JSON.parse(stdout).findings });
    });
  });
}

/** A chain whose provider does not answer. */
const chain = (chain_id: number) => ({
  chain_id,
  name: `Chain ${chain_id}`,
  rpc_urls: ['http://127.0.0.1:9'],
  finality: [{ confirmations: 1 }],
  tokens: [{ symbol: 'USDC', address: randomAddress() }],
});

test('doctor without a database › says so once, names what it could not check, and checks the rest', async () => {
  const folder = dataFolder();
  const chainsFile = join(folder, 'chains.json');
  writeFileSync(chainsFile, JSON.stringify({ test: [chain(7)], live: [chain(8)] }));
  const elsewhere = new URL(database.url);
  elsewhere.pathname = '/of_nobody';
  for (const [url, why] of [
    ['postgres://quittance@127.0.0.1:9/none', /The database of DATABASE_URL cannot be used: connect ECONNREFUSED/],
    [elsewhere.href, /database "of_nobody" does not exist/],
  ] as const) {
    const { code, findings } = await diagnose({ DATA_DIR: folder, DATABASE_URL: url, CHAINS_FILE: chainsFile });
    assert.equal(code, 1);
    const about = (start: string) => findings.filter(({ check }) => check.startsWith(start));
    assert.equal(about('database').length, 1);
    assert.match(about('database')[0]?.advice ?? '', why);
    assert.match(about('database')[0]?.advice ?? '', /Not checked without it: .*secret keys, rates, webhooks, alarms/);
    assert.match(
      about('chain 7')[0]?.advice ?? '',
      /^No provider answers: eth_getBlockByNumber at \S+: .+\. Check rpc_urls/,
    );
    for (const check of ['configuration', 'service at', 'automatic charges, chain 7', 'chain 8'])
      assert.equal(about(check).length, 1, check);
  }
});

test('doctor › the public address does not answer, or answers with an error → says which', async () => {
  const proxy = createServer((_call, answer) => answer.writeHead(502).end());
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  const env = { DATA_DIR: dataFolder(), DATABASE_URL: database.url };
  try {
    for (const [BASE_URL, why] of [
      [`http://127.0.0.1:${port}`, /does not answer from here: it answers 502\./],
      ['http://127.0.0.1:9', /does not answer from here: .+\./],
      [`https://127.0.0.1:${port}`, /does not answer from here: .*SSL routines/],
    ] as const) {
      const { findings } = await diagnose({ ...env, BASE_URL });
      assert.match(findings.find(({ check }) => check === `service at ${BASE_URL}`)?.advice ?? '', why);
    }
  } finally {
    proxy.close();
  }
});

test('doctor › an endpoint works again, but attempts of its earlier events are used up → says so', async () => {
  const { db, url } = database;
  const { partner, test: scope } = await makePartner(db);
  const about = async () => {
    const { findings } = await diagnose({ DATA_DIR: dataFolder(), DATABASE_URL: url });
    return findings.find(({ check }) => check === `webhook of ${partner.slug}, test`);
  };
  await db.sql`
    insert into webhook_endpoints (partner_id, test_mode, url, secret)
    values (${partner.id}, true, 'https://shop.example/events', '')`;
  await makeEvents(db, scope, 1);
  assert.equal(await about(), undefined);
  await db.sql`update webhook_deliveries set state = 'exhausted' where partner_id = ${partner.id}`;
  assert.match((await about())?.advice ?? '', /^All attempts of some events are used up; .* Run webhook replay/);
  await db.sql`update webhook_endpoints set failures = 3 where partner_id = ${partner.id}`;
  assert.match((await about())?.advice ?? '', /^3 failures in a row; .* All attempts of some events are used up/);
});

test('doctor while a session holds a table → names the table and the session, and fails only what needs it', async (t) => {
  const { db, url } = database;
  const diagnosed = async () => {
    const { code, findings } = await diagnose({ DATA_DIR: dataFolder(), DATABASE_URL: url });
    return { code, about: (check: string) => findings.find((found) => found.check === check) };
  };
  const free = await diagnosed();
  assert.equal(free.about('locks'), undefined);
  assert.equal(free.about('table webhook_endpoints'), undefined);
  // Sessions without the service's time limits, since doctor may take long on a busy machine.
  const [holder, first, second] = [1, 2, 3].map(() => openOne(url, { application_name: 'psql' })) as [Pool, Pool, Pool];
  t.after(() => Promise.all([holder, first, second].map((session) => session.end())));
  await holder`begin`;
  const [held] = await holder<{ pid: number; login: string }[]>`select pg_backend_pid() as pid, current_user as login`;
  await holder`lock table webhook_endpoints`;
  // The second waits for the first, which holds nothing that keeps it.
  const waiting: Promise<unknown>[] = [first.begin(async (tx) => tx`lock table webhook_endpoints in exclusive mode`)];
  await until(async () => (await listLockWaits(db.sql)).length > 0, 'the first to wait');
  waiting.push(second`select from webhook_endpoints`.then(() => null));
  await until(async () => ((await listLockWaits(db.sql))[1]?.seconds ?? 0) > 2, 'both to wait');
  const { code, about } = await diagnosed();
  assert.equal(code, 1);
  const table = new RegExp(
    `^It is locked by process ${held?.pid} \\(login ${held?.login}, application psql\\)\\. Whatever`,
  );
  assert.match(about('table webhook_endpoints')?.advice ?? '', table);
  const locks = new RegExp(`^Statements \\(\\d\\) wait .* hold these: ${held?.pid}\\. See`);
  assert.match(about('locks')?.advice ?? '', locks);
  const unchecked = 'It could not be checked: a session holds a table locked that it needs.';
  assert.deepEqual(about('webhooks'), { check: 'webhooks', state: 'failed', advice: unchecked });
  assert.equal(about('disk of the database')?.state, 'ok');
  await holder`rollback`;
  await Promise.all(waiting);
});
