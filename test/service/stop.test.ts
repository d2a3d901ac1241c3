import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type { Context } from '../../src/context.ts';
import { buildServer } from '../../src/http/server.ts';
import { testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let ctx: Context;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db);
});
after(() => database.drop());

async function listening(): Promise<{ app: FastifyInstance; port: number }> {
  const app = await buildServer(ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { app, port: Number(new URL(url).port) };
}

/** A reset also ends a connection. */
const closed = (socket: Socket) =>
  new Promise<void>((resolve) =>
    socket
      .resume()
      .on('error', () => {})
      .once('close', () => resolve()),
  );

/** How long the server takes to stop. */
async function stopMs(app: FastifyInstance): Promise<number> {
  const startedMs = performance.now();
  await app.close();
  return performance.now() - startedMs;
}

test('a stop does not wait for connections that a browser opened in advance, nor for half a request', async () => {
  const { app, port } = await listening();
  const [silent, half] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
  const accepted = once(app.server, 'connection');
  await Promise.all([once(silent, 'connect'), once(half, 'connect'), accepted]);
  half.write('GET /healthz HTTP/1.1\r\nHost: loc');
  const ended = Promise.all([silent, half].map(closed));
  const ms = await stopMs(app);
  await ended;
  assert.ok(ms < 25_000, `${ms} ms`); // it used to take a minute or half a minute
});

test('a request sent just as the stop begins → answered', async () => {
  const { app, port } = await listening();
  const accepted = once(app.server, 'connection');
  const late = connect(port, '127.0.0.1');
  await Promise.all([once(late, 'connect'), accepted]);
  let answer = '';
  late.setEncoding('utf8').on('data', (text: string) => {
    answer += text;
  });
  const stopped = app.close();
  late.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await Promise.all([stopped, closed(late)]);
  assert.equal(answer.split('\r\n', 1)[0], 'HTTP/1.1 200 OK');
});
