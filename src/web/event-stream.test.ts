import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import fastify from 'fastify';
import { sendEvents } from './event-stream.ts';

/** The output of a stream that nothing wakes, up to the first text after `: here`. */
async function firstOf(goesOn: boolean): Promise<string> {
  const app = fastify();
  const ending = new AbortController();
  app.get('/', (_request, reply) =>
    sendEvents(
      reply,
      ending.signal,
      () => () => {},
      async () => goesOn,
    ),
  );
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

test('a browser that leaves before the stream begins → the stream ends at once, and holds no place', {
  timeout: 60_000,
}, async () => {
  const app = fastify();
  const leaving = new AbortController();
  const ended = Promise.withResolvers<void>();
  app.get('/', async (_request, reply) => {
    leaving.abort();
    await once(reply.raw, 'close');
    const begin = () => () => {};
    await sendEvents(reply, new AbortController().signal, begin, async () => true).then(ended.resolve, ended.reject);
  });
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    await assert.rejects(fetch(url, { signal: leaving.signal }));
    await ended.promise;
  } finally {
    await app.close();
  }
});
