import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { waitMined } from '../../src/sandbox/wallet.ts';

const hash = `0x${'ab'.repeat(32)}`;
/** A chain that knows a transaction, never mines it, and takes long for each answer. */
const slowMs = 60;
const chain = createServer(async (request, response) => {
  let body = '';
  for await (const part of request) body += part;
  const { id, method } = JSON.parse(body) as { id: number; method: string };
  calls++;
  await setTimeout(slowMs);
  const result = method === 'eth_getTransactionByHash' ? { hash } : null;
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
let calls = 0;
let url: string;
before(async () => {
  await new Promise<void>((resolve) => chain.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(chain.address() as AddressInfo).port}`;
});
after(() => chain.close());

test('a chain that answers slowly and does not mine → the wait ends when it was said to', async () => {
  await assert.rejects(waitMined(url, hash, slowMs), /was not mined within 60 ms/);
  assert.equal(calls, 2, 'one look took longer than the whole wait');
});
