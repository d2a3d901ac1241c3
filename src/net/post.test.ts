import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { behaviours, type Receiver, startReceiver } from '../../test/support/net/receiver.ts';
import type { OutboundPolicy } from './guard.ts';
import { createPoster, type Poster, type PosterOptions } from './post.ts';

const loopback: OutboundPolicy = { allowCidrs: ['127.0.0.0/8'], plainHttp: true };
const live: OutboundPolicy = { allowCidrs: [], plainHttp: false };

describe('POST to an address a stranger chose', () => {
  const opened: (Poster | Receiver)[] = [];
  const poster = (policy: OutboundPolicy, options?: PosterOptions) => {
    const made = createPoster(policy, options);
    opened.push(made);
    return made;
  };
  const receiver = async (options?: Parameters<typeof startReceiver>[0]) => {
    const made = await startReceiver(options);
    opened.push(made);
    return made;
  };
  after(() => Promise.all(opened.map((one) => one.close())));

  const error = (outcome: object) => ('error' in outcome ? outcome.error : outcome);

  test('a name that resolves to loopback is refused, and nothing is connected', async () => {
    const { port, received } = await receiver();
    const resolve = async () => ['127.0.0.1'];
    for (const protocol of ['http', 'https']) {
      assert.equal(
        error(await poster(live, { resolve }).post(`${protocol}://rebind.example:${port}/`, {}, '')),
        'refused_address',
      );
    }
    assert.equal(received.length, 0);
  });

  test('a name with one forbidden address among others → refused', async () => {
    const resolve = async () => ['93.184.216.34', '10.0.0.1'];
    assert.equal(error(await poster(live, { resolve }).post('https://mixed.example/', {}, '')), 'refused_address');
  });

  test('a name with more addresses than any receiver has → refused, and none is connected', async () => {
    const { port, received } = await receiver();
    const outcomes: unknown[] = [];
    for (const length of [50, 51]) {
      const sender = poster(loopback, { resolve: async () => Array<string>(length).fill('127.0.0.1') });
      const outcome = await sender.post(`http://many.example:${port}/`, {}, '');
      outcomes.push('error' in outcome ? outcome.error : outcome.statusCode);
    }
    assert.deepEqual(outcomes, [200, 'dns']);
    assert.equal(received.length, 1);
  });

  test('answers before the answer → a few are passed over, more end the attempt', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n';
    const statuses: unknown[] = [];
    for (const count of [20, 21]) {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => socket.write(`${early.repeat(count)}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const sender = poster(loopback, { timeoutMs: 60_000 });
      const outcome = await sender.post(`http://127.0.0.1:${port}/`, {}, '');
      statuses.push('error' in outcome ? outcome.error : outcome.statusCode);
      await sender.close();
      server.close();
    }
    assert.deepEqual(statuses, [200, 'invalid_response']);
  });

  test('a 100 Continue, which nothing asked for → an invalid response, and the POST is not sent again', async () => {
    const received: string[] = [];
    const server = createServer((socket) => {
      let posts = 0;
      socket.on('error', () => {});
      socket.on('data', (chunk) => {
        received.push(String(chunk));
        socket.write(`${posts++ ? 'HTTP/1.1 100 Continue\r\n\r\n' : ''}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sender = poster(loopback, { timeoutMs: 60_000 });
    const send = () => sender.post(`http://127.0.0.1:${port}/`, {}, '');
    const first = await send();
    assert.equal('statusCode' in first && first.statusCode, 200);
    assert.equal(error(await send()), 'invalid_response', 'on the connection that was kept');
    await sender.close();
    server.close();
    assert.equal(received.length, 2, 'sent twice in all');
  });

  test('a resolver answers with something that is not an IP address → refused', async () => {
    const resolve = async () => ['not-an-address'];
    assert.equal(error(await poster(live, { resolve }).post('https://odd.example/', {}, '')), 'refused_address');
  });

  test('an IP literal in any notation → checked like a resolved address', async () => {
    const { port, received } = await receiver();
    for (const host of [
      '127.0.0.1',
      '2130706433',
      '0x7f.1',
      '0177.1',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
    ]) {
      assert.equal(error(await poster(live).post(`https://${host}:${port}/`, {}, '')), 'refused_address', host);
    }
    assert.equal(received.length, 0);
  });

  test('the address is checked again at every connection: a name that moves to loopback is refused', async () => {
    const { port, received } = await receiver();
    const answers = [['127.0.0.1'], ['127.0.0.2', '10.0.0.1']];
    const resolve = async () => answers.shift() ?? [];
    const one = poster(loopback, { resolve });
    assert.equal(
      'statusCode' in (await one.post(`http://moving.example:${port}/`, { connection: 'close' }, 'a')),
      true,
    );
    assert.equal(
      error(await one.post(`http://moving.example:${port}/`, { connection: 'close' }, 'b')),
      'refused_address',
    );
    assert.equal(received.length, 1);
  });

  test('an unknown name → dns; a name that never resolves → timeout', async () => {
    const missing = async () => Promise.reject(new Error('ENOTFOUND'));
    assert.equal(error(await poster(live, { resolve: missing }).post('https://missing.example/', {}, '')), 'dns');
    const never = () => new Promise<string[]>(() => {});
    assert.equal(
      error(await poster(live, { resolve: never, timeoutMs: 100 }).post('https://never.example/', {}, '')),
      'timeout',
    );
  });

  test('a server that accepts the connection but never starts TLS → timeout', async () => {
    const sockets: { destroy(): void }[] = [];
    const silent = createServer((socket) => void sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    assert.equal(
      error(await poster(loopback, { timeoutMs: 150 }).post(`https://127.0.0.1:${port}/`, {}, '')),
      'timeout',
    );
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('a port where nobody listens → connection', async () => {
    const { port, close } = await startReceiver();
    await close();
    assert.equal(error(await poster(loopback).post(`http://127.0.0.1:${port}/`, {}, '')), 'connection');
  });

  test('a redirect → returned as the response, not followed', async () => {
    const target = await receiver();
    for (const status of [301, 302, 303, 307, 308]) {
      const { url } = await receiver({ behave: behaviours.status(status, { location: target.url }) });
      const outcome = await poster(loopback).post(url, {}, '{}');
      assert.equal('statusCode' in outcome && outcome.statusCode, status);
    }
    assert.equal(target.received.length, 0);
  });

  test('a proxy named in the environment is not used', async () => {
    const proxy = await receiver();
    const { url, received } = await receiver();
    const earlier = { ...process.env };
    Object.assign(process.env, { http_proxy: proxy.url, HTTP_PROXY: proxy.url, NODE_USE_ENV_PROXY: '1' });
    await poster(loopback).post(url, {}, '{}');
    for (const name of ['http_proxy', 'HTTP_PROXY', 'NODE_USE_ENV_PROXY']) {
      if (earlier[name] === undefined) delete process.env[name];
      else process.env[name] = earlier[name];
    }
    assert.deepEqual([proxy.received.length, received.length], [0, 1]);
  });

  test('at most 4 KiB of an answer are read, and NUL bytes are kept from the log', async () => {
    const { url, behave } = await receiver({ behave: behaviours.hugeBody });
    const huge = await poster(loopback).post(url, {}, '');
    assert.equal('responseBody' in huge && huge.responseBody.length, 4096);
    behave((response) => void response.writeHead(200).end('a\0b'));
    const nul = await poster(loopback).post(url, {}, '');
    assert.equal('responseBody' in nul && nul.responseBody, 'a\uFFFDb');
  });

  test('at most 4,096 characters of headers are kept for the log, the first ones', async () => {
    const { url } = await receiver({
      behave: (response) => {
        const long = { 'x-half': 'a'.repeat(2_000), 'x-rest': 'b'.repeat(2_200), 'x-last': 'c' };
        response.writeHead(200, { 'x-first': 'd', ...long }).end();
      },
    });
    const outcome = await poster(loopback).post(url, {}, '');
    const kept = 'responseHeaders' in outcome ? Object.keys(outcome.responseHeaders) : [];
    assert.deepEqual(kept, ['x-first', 'x-half']);
  });

  test('a 103 Early Hints → not taken for the response', async () => {
    const { url } = await receiver({
      behave: (response) => {
        response.writeEarlyHints({ link: '</a>; rel=preload' });
        response.writeHead(500).end();
      },
    });
    const outcome = await poster(loopback).post(url, {}, '');
    assert.equal('statusCode' in outcome && outcome.statusCode, 500);
  });

  test('a kept connection that the receiver has closed → the POST still succeeds; a new one that is reset → a failure', async () => {
    const known = new WeakSet<object>();
    const once = await receiver({
      behave: (response) => {
        const socket = response.socket as object;
        if (known.has(socket)) response.socket?.destroy();
        else response.writeHead(200).end();
        known.add(socket);
      },
    });
    const one = poster(loopback);
    for (let sent = 0; sent < 10; sent++) {
      const outcome = await one.post(once.url, {}, 'a');
      assert.equal('statusCode' in outcome && outcome.statusCode, 200);
    }
    assert.ok(once.received.length > 10, 'some went to a connection that was then closed');

    const resetting = await receiver({ behave: behaviours.reset });
    assert.equal(error(await poster(loopback).post(resetting.url, {}, '')), 'connection');
    assert.equal(resetting.received.length, 1);
  });

  test('every kept connection was closed → three others are tried, and the POST fails', async () => {
    const open: ServerResponse[] = [];
    const closing = await receiver({
      behave: (response) => {
        if (open.length === 6) return void response.socket?.destroy();
        open.push(response);
        if (open.length === 6) for (const one of open) one.writeHead(200).end();
      },
    });
    const one = poster(loopback);
    await Promise.all(Array.from({ length: 6 }, () => one.post(closing.url, {}, 'a')));
    assert.equal(error(await one.post(closing.url, {}, 'a')), 'connection');
    assert.equal(closing.received.length, 6 + 4);
  });
});
