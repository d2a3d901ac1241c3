import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Config } from '../../src/config.ts';
import { buildServer } from '../../src/http/server.ts';
import { startApp, testConfig } from '../support/app.ts';
import { visit } from '../support/people/forms.ts';

let app: Awaited<ReturnType<typeof startApp>>;

before(async () => {
  app = await startApp();
});
after(() => app.stop());

type From = { peer: string; headers?: Record<string, string> };

/** How `/dev/mail` answers these peers. All sockets come from this machine, so the test sets their addresses itself. */
async function statuses(config: Partial<Config>, froms: From[]): Promise<number[]> {
  const server = await buildServer({ ...app.ctx, config: testConfig(config) });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  let peer = '';
  server.server.prependListener('connection', (socket) => {
    Object.defineProperty(socket, 'remoteAddress', { value: peer });
  });
  const seen: number[] = [];
  try {
    for (const from of froms) {
      peer = from.peer;
      const headers = { host: 'localhost:3000', connection: 'close', ...from.headers };
      seen.push((await visit(`${url}/dev/mail`, { headers })).status);
    }
    return seen;
  } finally {
    await server.close();
  }
}

const forwarded = (peer: string, client: string): From => ({ peer, headers: { 'x-forwarded-for': client } });

test('GET /dev/mail › this machine only', async () => {
  const own = ['127.0.0.1', '127.0.0.9', '::1', '::ffff:127.0.0.1'].map((peer) => ({ peer }));
  assert.deepEqual(await statuses({}, own), [200, 200, 200, 200]);
  const others = ['203.0.113.9', '10.0.0.7', '::ffff:203.0.113.9', '2001:db8::1', 'fe80::1%eth0'].map((peer) => ({
    peer,
  }));
  assert.deepEqual(await statuses({}, others), [404, 404, 404, 404, 404]);
});

test('GET /dev/mail › an address in a header never counts as this machine', async () => {
  const claims = [
    forwarded('203.0.113.9', '127.0.0.1'),
    forwarded('127.0.0.1', '127.0.0.1'),
    forwarded('127.0.0.1', '203.0.113.9'),
    { peer: '127.0.0.1', headers: { forwarded: 'for=127.0.0.1' } },
    { peer: '127.0.0.1', headers: { via: '1.1 proxy' } },
    { peer: '127.0.0.1', headers: { 'x-real-ip': '127.0.0.1' } },
  ];
  const closed = claims.map(() => 404);
  assert.deepEqual(await statuses({}, claims), closed);
  assert.deepEqual(await statuses({ trustProxy: ['203.0.113.0/24'] }, claims), closed);
  assert.deepEqual(await statuses({ trustProxy: ['127.0.0.0/8', '::1/128'] }, claims), closed);
});

test('GET /dev/mail › a trusted proxy on this machine is no client, whether it says for whom or not', async () => {
  assert.deepEqual(
    await statuses({ trustProxy: ['127.0.0.1/32'] }, [{ peer: '127.0.0.1' }, { peer: '127.0.0.2' }]),
    [404, 200],
  );
});

test('GET /dev/mail › networks of DEV_ALLOW_CIDRS see it, through a trusted proxy too; the rest does not', async () => {
  const devAllowCidrs = ['10.0.0.0/8'];
  const froms = [
    { peer: '10.1.2.3' },
    { peer: '11.1.2.3' },
    forwarded('192.0.2.1', '10.1.2.3'),
    forwarded('192.0.2.1', '10.1.2.3, 203.0.113.9'),
    forwarded('203.0.113.9', '10.1.2.3'),
  ];
  assert.deepEqual(await statuses({ devAllowCidrs, trustProxy: ['192.0.2.1/32'] }, froms), [200, 404, 200, 404, 404]);
});
