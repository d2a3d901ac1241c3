import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fastify from 'fastify';
import type { CsvRow } from '../lib/text/csv.ts';
import { cutExports, sendCsv } from './download.ts';
import { ExportSlots } from './export-slots.ts';

// To a client of HTTP/1.0, such as a proxy with old defaults, the end of the connection is the end of the file.

const app = fastify();
const stalling = new ExportSlots({ max: 9, maxOfGroup: 9, maxOfOne: 9, stalledMs: 100 });
let port = 0;

async function* rows(end: 'whole' | 'fails' | 'waits'): AsyncGenerator<CsvRow[]> {
  yield [['a row']];
  if (end === 'fails') throw new Error('the database is gone');
  if (end === 'waits') await new Promise(() => {});
}
before(async () => {
  app.decorateRequest('reader', null);
  for (const end of ['whole', 'fails', 'waits'] as const)
    app.get(`/${end}`, (_request, reply) => sendCsv(reply, 'list', ['name'], rows(end)));
  app.get('/stalls', (_request, reply) => sendCsv(reply, 'list', ['name'], rows('waits'), stalling));
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port);
});
after(() => app.close());

/** Downloads a file by HTTP/1.0. Calls `onRow` once a row has arrived. */
async function download(path: string, onRow = () => {}): Promise<{ text: string; end: 'complete' | 'cut' }> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(`GET ${path} HTTP/1.0\r\n\r\n`);
  let text = '';
  socket.on('data', (data) => {
    text += data;
    if (text.includes('a row')) onRow();
  });
  const end = await new Promise<'complete' | 'cut'>((resolve) => {
    socket.once('end', () => resolve('complete'));
    socket.once('error', () => resolve('cut'));
  });
  return { text, end };
}

test('an export by HTTP/1.0 that ends → complete', async () => {
  const { text, end } = await download('/whole');
  assert.match(text, /\r\n\r\n\uFEFFname\r\na row\r\n$/);
  assert.equal(end, 'complete');
});

test('an export by HTTP/1.0 that fails in the middle → the connection is reset, so it does not look complete', async () => {
  assert.equal((await download('/fails')).end, 'cut');
});

test('an export by HTTP/1.0 that ends because its client reads nothing → the same', async () => {
  assert.equal((await download('/stalls')).end, 'cut');
});

test('an export by HTTP/1.0 that the stop of the service cuts off → the same', async () => {
  assert.equal((await download('/waits', cutExports)).end, 'cut');
});
