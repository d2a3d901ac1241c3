import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { arrivalMs } from '../../src/http/client-errors.ts';
import { assertRefused } from '../support/api/client.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeKey, makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';
import { until } from '../support/until.ts';

const logged: string[] = [];
let app: Awaited<ReturnType<typeof startApp>>;

before(async () => {
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
  app = await startApp({ log, config: testConfig() });
});
after(() => app?.stop());

/** Returns all that one connection received until the service closed it. */
async function talk(begin: (socket: Socket) => void): Promise<string> {
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => {}); // a reset after the answer
  socket.setTimeout(patienceMs, () => socket.destroy(new Error('the service kept the connection')));
  await once(socket, 'connect');
  begin(socket);
  await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

/** Parses the single answer in a text. */
function readAnswer(text: string) {
  const [head = '', ...bodies] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2).map((part) => part.toLowerCase())));
  const body = bodies.join('\r\n\r\n');
  assert.equal(Number(headers['content-length']), Buffer.byteLength(body), text);
  return { status: Number(/^HTTP\/1\.1 (\d{3}) [A-Z]/.exec(first)?.[1]), headers, text: body, json: JSON.parse(body) };
}

async function assertAnswered(sent: string, status: number, code: string): Promise<void> {
  const answer = readAnswer(await talk((socket) => socket.write(sent)));
  assertRefused(answer, status, code);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.match(answer.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/);
  assert.equal(answer.headers.connection, 'close');
}

const path = '/api/v1/requests';
const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n`;
const post = `POST ${path}/create HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;

const malformed: Record<string, string> = {
  'no HTTP at all': 'hello\r\n\r\n',
  'a TLS greeting': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'an unknown method': `BREW ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  'a header without a colon': `${head}nonsense\r\n\r\n`,
  'NUL in a header': `${head}x-a: b\0c\r\n\r\n`,
  'a length and chunks': `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
  'two lengths': `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
  'a chunk of no size': `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n`,
};
for (const [what, sent] of Object.entries(malformed)) {
  test(`Malformed HTTP › ${what} → 400 malformed_http, and the connection is closed`, () =>
    assertAnswered(sent, 400, 'malformed_http'));
}

test('Malformed HTTP › headers of more than 16 KiB → 431 headers_too_large', async () => {
  await assertAnswered(`${head}x-a: ${'a'.repeat(17_000)}\r\n\r\n`, 431, 'headers_too_large');
  await assertAnswered(`GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431, 'headers_too_large');
});

test('Malformed HTTP › a small body whose chunk has 17 KiB of extensions → 400 malformed_http, not that the body is too large', async () => {
  const { test: scope } = await makePartner(app.db);
  const { key } = await makeKey(app.db, scope);
  const chunk = `2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`;
  const headers = `Authorization: Bearer ${key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  await assertAnswered(post + headers + chunk, 400, 'malformed_http');
});

test('Malformed HTTP › no Host header, or two → 400 malformed_http, and the connection is closed', async () => {
  for (const hosts of ['', 'Host: localhost\r\nHost: localhost\r\n']) {
    await assertAnswered(`GET ${path} HTTP/1.1\r\n${hosts}\r\n`, 400, 'malformed_http');
  }
  const old = readAnswer(await talk((socket) => socket.write(`GET ${path} HTTP/1.0\r\n\r\n`)));
  assertRefused(old, 401, 'unauthorized'); // HTTP/1.0 requires no Host header
});

test('Two Authorization headers › 401 unauthorized, whichever key either holds: a proxy may have used the other one', async () => {
  const { test: scope } = await makePartner(app.db);
  const { key } = await makeKey(app.db, scope);
  const own = `Authorization: Bearer ${key}\r\n`;
  const call = async (headers: string) =>
    readAnswer(await talk((socket) => socket.write(`${head}${headers}Connection: close\r\n\r\n`)));
  assert.equal((await call(own)).status, 200);
  for (const other of [own, 'authorization: Bearer none\r\n', 'Authorization:\r\n']) {
    for (const both of [own + other, other + own]) assertRefused(await call(both), 401, 'unauthorized');
  }
});

test('Malformed HTTP › a call whose headers or body do not arrive in time → 408 request_timeout', async (t) => {
  const { server } = app.app;
  // If the limit of the headers were larger, Node would give it to the whole call.
  assert.deepEqual([server.headersTimeout, server.requestTimeout], [arrivalMs, arrivalMs]);
  t.after(() => Object.assign(server, { headersTimeout: arrivalMs, requestTimeout: arrivalMs }));
  Object.assign(server, { headersTimeout: 100, requestTimeout: 100 });
  const { test: scope } = await makePartner(app.db);
  const { key } = await makeKey(app.db, scope);
  const body = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
  const began = [`POST /api/v1/accounts HTTP/1.1\r\n`, `POST /api/v1/accounts HTTP/1.1\r\nHost: localhost\r\n${body}`];
  const texts = await Promise.all(began.map((text) => talk((socket) => socket.write(text))));
  for (const text of texts) assertRefused(readAnswer(text), 408, 'request_timeout');
});

for (const [what, path, type] of [
  ['call', '/api/v1/requests/create', 'application/json'],
  ['form', '/portal/sign-in', 'application/x-www-form-urlencoded'],
] as const) {
  test(`Malformed HTTP › a client that leaves in the middle of a ${what} → no error of ours, so no alarm`, async () => {
    const { test: scope } = await makePartner(app.db);
    const { key } = await makeKey(app.db, scope);
    const from = logged.length;
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const received = once(app.app.server, 'request');
    const own = `Content-Type: ${type}\r\nAuthorization: Bearer ${key}\r\nContent-Length: 100\r\n`;
    socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${own}\r\n{`);
    await received;
    socket.destroy();
    const lines = () => logged.slice(from).map((line) => JSON.parse(line) as { level: number; err?: Error });
    await until(() => lines().some(({ err }) => err?.message === 'aborted'), 'the loss to be noticed');
    assert.deepEqual(
      lines().filter(({ level }) => level >= 40),
      [],
    );
  });
}

test('Malformed HTTP › behind a call whose answer has begun → cut off, without a second answer', async () => {
  const { test: scope } = await makePartner(app.db);
  const { id } = await makeRequest(app.db, scope, await makeMerchant(app.db, scope));
  const text = await talk((socket) => {
    socket.write(`GET /pay/${id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    socket.once('data', () => socket.write('nonsense\r\n\r\n'));
  });
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/);
  assert.equal(text.split('HTTP/1.1').length, 2, text);
});

test('Malformed HTTP › an unknown expectation, an upgrade, a rare method → answered like any other call', async () => {
  for (const extra of ['Expect: miracles\r\n', 'Upgrade: h2c\r\nConnection: upgrade\r\n', 'Upgrade: websocket\r\n']) {
    const text = await talk((socket) => socket.write(`${head}${extra}Connection: close\r\n\r\n`));
    assertRefused(readAnswer(text), 401, 'unauthorized');
  }
  const rare = `PROPFIND ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
  assertRefused(readAnswer(await talk((socket) => socket.write(rare))), 405, 'method_not_allowed');
  assert.equal(await talk((socket) => socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')), '');
});

test('Malformed HTTP › a call that arrives while the service stops → answered, then closed', async () => {
  const other = await startApp();
  const socket = connect(Number(new URL(other.url).port), '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  const [peer] = (await once(other.app.server, 'connection')) as [Socket];
  socket.write(head);
  await until(() => peer.bytesRead > 0, 'the first half to arrive');
  const stopped = other.stop();
  socket.write('\r\n');
  await once(socket, 'close');
  await stopped;
  assertRefused(readAnswer(text), 401, 'unauthorized');
});

test('Malformed HTTP › is logged for debugging only', () => {
  const lines = logged
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'a client sent an unreadable request');
  assert.ok(lines.length >= Object.keys(malformed).length, String(lines.length));
  const debug = 20;
  assert.deepEqual([...new Set(lines.map(({ level }) => level))], [debug]);
});
