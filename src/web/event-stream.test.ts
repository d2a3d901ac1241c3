import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fastify from 'fastify';
import { Slots } from '../lib/concurrency/slots.ts';
import { endEventStream, openEventStream, sendEvents, writeEvent } from './event-stream.ts';

const watch = () => [];

/** The output of a stream that nothing wakes, up to the first text after `: here`. */
async function firstOf(goesOn: boolean): Promise<string> {
  const app = fastify();
  const ending = new AbortController();
  const streams = { slots: new Slots(1, 1), ending: ending.signal, log: app.log };
  app.get('/', (_request, reply) => sendEvents(reply, streams, ['a'], () => ({ watch, goesOn: async () => goesOn })));
  try {
    const answer = await fetch(await app.listen({ host: '127.0.0.1', port: 0 }));
    let text = '';
    for await (const part of (answer.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.includes('data:')) break;
    }
    return text;
  } finally {
    ending.abort();
    await app.close();
  }
}

test('a stream that begins → its page looks once more, for what changed before it listened', {
  timeout: 60_000,
}, async () => {
  assert.equal(await firstOf(true), ': here\n\ndata: changed\n\n');
});

test('a session that ended before its stream began → the page learns it at once', { timeout: 60_000 }, async () => {
  assert.equal(await firstOf(false), ': here\n\nevent: over\ndata: 1\n\n');
});

test('a browser that leaves before the stream begins → the stream ends at once, and holds no slot', {
  timeout: 60_000,
}, async () => {
  const app = fastify();
  const slots = new Slots(1, 1);
  const streams = { slots, ending: new AbortController().signal, log: app.log };
  const leaving = new AbortController();
  const ended = Promise.withResolvers<void>();
  app.get('/', async (_request, reply) => {
    leaving.abort();
    await once(reply.raw, 'close');
    await sendEvents(reply, streams, ['a'], () => ({ watch, goesOn: async () => true })).then(
      () => ended.resolve(),
      ended.reject,
    );
  });
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    await assert.rejects(fetch(url, { signal: leaving.signal }));
    await ended.promise;
    assert.equal(slots.take('a'), true);
  } finally {
    await app.close();
  }
});

test('a stream that finds no slot, or begins while the service stops → 204, and nothing is read for it', {
  timeout: 60_000,
}, async () => {
  const app = fastify();
  const ending = new AbortController();
  const streams = { slots: new Slots(2, 1), ending: ending.signal, log: app.log };
  let opened = 0;
  app.get<{ Params: { holder: string } }>('/:holder', (request, reply) =>
    sendEvents(reply, streams, [request.params.holder], () => {
      opened++;
      return { watch, goesOn: async () => true };
    }),
  );
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const open = async (holder: string) => (await fetch(`${url}/${holder}`)).status;
    assert.deepEqual([await open('a'), await open('a')], [200, 204]);
    ending.abort();
    assert.equal(await open('b'), 204);
    assert.equal(opened, 1);
  } finally {
    ending.abort();
    await app.close();
  }
});

test('what a stream reports cannot be read → an ordinary error, and its slot is free again', async () => {
  const app = fastify();
  const streams = { slots: new Slots(1, 1), ending: new AbortController().signal, log: app.log };
  app.get('/', (_request, reply) =>
    sendEvents(reply, streams, ['a'], () => Promise.reject(new Error('no such request'))),
  );
  assert.equal((await app.inject('/')).statusCode, 500);
  assert.equal(streams.slots.take('a'), true);
  await app.close();
});

/** A stream whose reader reads nothing, and what a handler does with it. */
async function unread(work: (stream: ReturnType<typeof openEventStream>) => Promise<void>): Promise<void> {
  const app = fastify();
  const done = Promise.withResolvers<void>();
  app.get('/', (_request, reply) => {
    work(openEventStream(reply)).then(done.resolve, done.reject);
  });
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const reader = connect(Number(port), '127.0.0.1').pause();
  reader.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
  try {
    await done.promise;
  } finally {
    reader.destroy();
    await app.close();
  }
}

test('a reader that reads nothing → its connection is closed before much waits in memory', {
  timeout: 60_000,
}, async () => {
  const message = `data: ${'a'.repeat(20_000)}\n\n`;
  await unread(async (stream) => {
    let most = 0;
    for (let written = 0; !stream.destroyed; written++) {
      assert.ok(written < 10_000, 'it is cut off at some time');
      writeEvent(stream, message);
      most = Math.max(most, stream.writableLength);
      await setImmediate();
    }
    assert.ok(most < 100_000, `${most} bytes`);
  });
});

test('a stream that ends unread → its connection is closed all the same', { timeout: 60_000 }, async () => {
  await unread(async (stream) => {
    while (stream.writableLength < 50_000) {
      writeEvent(stream, 'a'.repeat(10_000));
      await setImmediate();
    }
    endEventStream(stream);
    await once(stream, 'close');
  });
});
