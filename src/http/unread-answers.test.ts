import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import fastify from 'fastify';
import { cutUnread } from './unread-answers.ts';

/** More than the buffers of both ends of a connection take. */
const answer = 'x'.repeat(32 * 1024 * 1024);

test('an answer of which the client takes nothing › is cut off, and another client still gets its own', async (t) => {
  const app = fastify({ forceCloseConnections: true });
  t.after(() => app.close());
  cutUnread(app, 1_000);
  app.get('/', async () => answer);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const connected = once(app.server, 'connection');
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1').pause();
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [socket] = (await connected) as [Socket];
  await once(socket, 'close', { signal: AbortSignal.timeout(30_000) });

  const [response] = await once(get(url), 'response');
  assert.equal((await text(response)).length, answer.length);
});
