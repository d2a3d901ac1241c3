import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { until } from '../../test/support/until.ts';
import { createPoster } from './post.ts';

/** A receiver that holds each POST until the test answers it, and records its connections. */
async function startHeld() {
  const sockets: Socket[] = [];
  const held: ServerResponse[] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    request.resume().on('end', () => held.push(response));
  });
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const arrived = (count: number) => until(() => held.length === count, 'POSTs arrived');
  const live = () => sockets.filter((socket) => !socket.destroyed).length;
  return { url, sockets, held, arrived, live };
}

function startPoster(timeoutMs = 20_000) {
  const poster = createPoster({ allowCidrs: ['127.0.0.0/8'], plainHttp: true }, { timeoutMs });
  after(() => poster.close());
  return poster;
}

test('POSTs one after the other use one connection, the one used last; as many at once have one each', async () => {
  const { url, sockets, held, arrived } = await startHeld();
  const poster = startPoster();
  for (let sent = 1; sent <= 3; sent++) {
    const post = poster.post(url, {}, 'a');
    await arrived(sent);
    held.at(-1)?.end();
    await post;
  }
  assert.equal(sockets.length, 1);

  const two = [poster.post(url, {}, 'a'), poster.post(url, {}, 'b')];
  await arrived(5);
  assert.equal(sockets.length, 2);
  const [first, second] = [held[3]?.socket, held[4]?.socket];
  held[3]?.end();
  await Promise.race(two);
  held[4]?.end();
  await Promise.all(two);
  const next = poster.post(url, {}, 'c');
  await arrived(6);
  assert.ok(second && second !== first);
  assert.equal(held[5]?.socket, second);
  assert.equal(sockets.length, 2);
  held[5]?.end();
  await next;
});

test('a POST that had no answer in time, or whose answer was not read to its end, ends its connection', async () => {
  const { url, sockets, held, arrived, live } = await startHeld();
  // On a busy machine the time may be over before the POST has arrived.
  for (let timeoutMs = 50; held.length === 0; timeoutMs *= 2) {
    const late = await startPoster(timeoutMs).post(url, {}, 'a');
    assert.equal('error' in late && late.error, 'timeout');
  }
  await until(() => live() === 0, 'the connection was ended');

  const poster = startPoster();
  const [before, opened] = [held.length, sockets.length];
  const post = poster.post(url, {}, 'b');
  await arrived(before + 1);
  held.at(-1)?.end('x'.repeat(1_000_000));
  await post;
  await until(() => live() === 0, 'the connection was ended');
  const next = poster.post(url, {}, 'c');
  await arrived(before + 2);
  assert.equal(sockets.length, opened + 2);
  held.at(-1)?.end();
  await next;
});

test('a connection that the receiver closes after its response is replaced by a new one', async () => {
  const { url, sockets, held, arrived, live } = await startHeld();
  const poster = startPoster();
  for (let sent = 1; sent <= 2; sent++) {
    const post = poster.post(url, {}, 'a');
    await arrived(sent);
    held.at(-1)?.writeHead(200, { connection: 'close' }).end();
    assert.equal('statusCode' in (await post), true);
  }
  assert.equal(sockets.length, 2);
  await until(() => live() === 0, 'both were closed');
});

test('a client that is closed leaves no connection', async () => {
  const { url, held, arrived, live } = await startHeld();
  const poster = startPoster();
  const idle = poster.post(url, {}, 'a');
  await arrived(1);
  held[0]?.end();
  await idle;
  const underWay = poster.post(url, {}, 'b');
  await arrived(2);
  await poster.close();
  const outcome = await underWay;
  assert.equal('error' in outcome && outcome.error, 'connection');
  await until(() => live() === 0, 'no connection was left');
});
