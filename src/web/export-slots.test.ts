import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { sendCsv } from './download.ts';
import { type ExportLimits, ExportSlots } from './export-slots.ts';

const ends: (() => Promise<unknown>)[] = [];
after(() => Promise.all(ends.map((end) => end())));

async function* endless() {
  for (;;) yield [['x'.repeat(64 * 1024)]];
}

/** A server of exports that never end, to clients that read nothing of them. */
async function exportsWith(limits: ExportLimits) {
  const app = fastify();
  const slots = new ExportSlots(limits);
  const closed: Promise<unknown>[] = [];
  const clients: ClientRequest[] = [];
  app.decorateRequest('reader', null);
  app.get<{ Params: { group: string; id: string } }>('/:group/:id', (request, reply) => {
    request.reader = { ...request.params, isStillIn: async () => true };
    closed.push(new Promise((resolve) => reply.raw.once('close', resolve)));
    return sendCsv(reply, 'list', ['name'], endless(), slots);
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  ends.push(async () => {
    for (const client of clients) client.destroy();
    await app.close();
  });
  const open = async (path: string): Promise<number | undefined> => {
    const client = get(`${url}/${path}`, { agent: false });
    clients.push(client);
    const [answer] = (await once(client, 'response')) as [IncomingMessage];
    for (const end of [client, answer]) end.on('error', () => {});
    return answer.statusCode;
  };
  return { open, clients, closed };
}

test('exports at once › limits of a reader, of its group and of all → 429 beyond; one that ends makes room', async () => {
  const { open, clients, closed } = await exportsWith({ max: 6, maxOfGroup: 3, maxOfOne: 2, stalledMs: 600_000 });
  const statuses = [];
  for (const path of ['a/1', 'a/1', 'a/1', 'a/2', 'a/3', 'b/4', 'c/5', 'b/6', 'd/7']) statuses.push(await open(path));
  assert.deepEqual(statuses, [200, 200, 429, 200, 429, 200, 200, 429, 200]);
  clients[0]?.destroy();
  await closed[0];
  assert.equal(await open('e/8'), 200);
  assert.equal(await open('f/9'), 429, 'all slots are taken');
});

test('a few readers of a group that take all they can › leave slots to its others', async () => {
  const { open } = await exportsWith({ max: 100, maxOfGroup: 10, maxOfOne: 5, stalledMs: 600_000 });
  const taken: Record<string, number> = {};
  for (const reader of ['1', '2', '3', '4', '5'])
    for (let n = 0; n < 5; n++) if ((await open(`a/${reader}`)) === 200) taken[reader] = (taken[reader] ?? 0) + 1;
  assert.deepEqual(taken, { 1: 5, 2: 3, 3: 1, 4: 1 });
});

test('an export whose client reads nothing for long → ended, and its slot is free', async () => {
  const { open, closed } = await exportsWith({ max: 1, maxOfGroup: 1, maxOfOne: 1, stalledMs: 500 });
  assert.equal(await open('a/1'), 200);
  await closed[0];
  assert.equal(await open('a/1'), 200);
});
