import assert from 'node:assert/strict';
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { createResolve, queryNameServers } from './resolve.ts';

/** A name that the system refuses without a query. */
const tooLong = 'n'.repeat(100);

/** How many names the system looks up, before any answer can come: each has a thread, or waits for one. */
async function lookedUp(): Promise<number> {
  for (let i = 0; i < 100; i++) await null;
  return process.getActiveResourcesInfo().filter((name) => name === 'GetAddrInfoReqWrap').length;
}

test('many names that name servers do not know → the system looks up eight at once, and the same name once', async () => {
  const resolve = createResolve(true, () => Promise.reject(new Error('no answer')));
  const ask = (count: number, nameOf: (i: number) => string) =>
    Promise.allSettled(Array.from({ length: count }, (_, i) => resolve(nameOf(i))));
  const same = ask(30, () => tooLong);
  assert.equal(await lookedUp(), 1);
  const different = ask(30, (i) => tooLong + i);
  assert.equal(await lookedUp(), 8);
  for (const { status } of [...(await same), ...(await different)]) assert.equal(status, 'rejected');
});

test('where no private network may be reached → the system, which knows local names, is not asked', async () => {
  const resolve = createResolve(false, () => Promise.reject(new Error('no answer')));
  await assert.rejects(resolve(tooLong), /no answer/);
});

test('localhost and the names below it → this machine, whatever a name server says', async () => {
  const resolve = createResolve(true, async () => ['192.0.2.7']);
  for (const name of ['localhost', 'shop.localhost']) assert.deepEqual(await resolve(name), ['127.0.0.1', '::1'], name);
  assert.deepEqual(await resolve('notlocalhost'), ['192.0.2.7']);
});

/** The answer to a query: one A record, or none if the query is for another type. */
function answerTo(query: Buffer, address: number[]): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5);
  const isA = question.readUInt16BE(question.length - 4) === 1;
  const header = Buffer.from([0, 0, 0x81, 0x80, 0, 1, 0, isA ? 1 : 0, 0, 0, 0, 0]);
  query.copy(header, 0, 0, 2);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, ...address]);
  return Buffer.concat(isA ? [header, question, record] : [header, question]);
}

test('a name whose answers are malformed → lookups of other names at the same time succeed', async () => {
  const server = createSocket('udp4');
  after(() => server.close());
  const held: [Buffer, RemoteInfo][] = [];
  server.on('message', (query, from) => {
    if (query.includes('good')) held.push([query, from]);
    else server.send(Buffer.concat([query.subarray(0, 2), Buffer.from('malformed')]), from.port, from.address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  const resolve = createResolve(false, queryNameServers([`127.0.0.1:${server.address().port}`]));
  const good = resolve('good.example');
  await assert.rejects(resolve('bad.example'));
  for (const [query, from] of held) server.send(answerTo(query, [192, 0, 2, 7]), from.port, from.address);
  assert.deepEqual(await good, ['192.0.2.7']);
});
