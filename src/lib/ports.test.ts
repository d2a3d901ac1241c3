import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { freePort } from './ports.ts';

async function holder(port = 0) {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(typeof address === 'object' && address);
  return { port: address.port, close: async () => void (await once(server.close(), 'close')) };
}

test('a wished port that is still held for a moment → waited for', async () => {
  const held = await holder();
  const waiting = freePort(held.port, 10_000);
  // By now the first attempt has failed as well.
  await assert.rejects(holder(held.port), /EADDRINUSE/);
  await held.close();
  assert.equal(await waiting, held.port);
});

test('a wished port that stays in use → another one', async () => {
  const held = await holder();
  for (const waitMs of [0, 50]) assert.notEqual(await freePort(held.port, waitMs), held.port);
  await held.close();
});

test('any port → none that the system gives to an outgoing connection', async () => {
  for (let count = 0; count < 20; count++) assert.ok((await freePort()) < 32_768);
});
