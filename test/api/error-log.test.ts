import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { newToken } from '../../src/auth/token.ts';
import { makeLog } from '../../src/lib/log.ts';
import { startApp } from '../support/app.ts';

const lines: string[] = [];
let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp({ log: makeLog('trace', { write: (line) => void lines.push(line) }) });
});
after(() => app.stop());

test('an error while a sign-in link is opened → logged with the route, never with the token', async () => {
  await app.owner`alter table sign_in_links rename to sign_in_links_gone`;
  const token = newToken();
  const answer = await fetch(`${app.url}/portal/link/${token}`);
  assert.equal(answer.status, 500);
  const log = lines.join('');
  assert.ok(log.includes('"route":"/portal/link/:token"'), log);
  assert.ok(!log.includes(token), 'who reads logs could sign in');
});

test('a request that cannot be read → logged at debug level, without what was sent', async () => {
  lines.length = 0;
  const key = 'qt_test_0123456789';
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  socket.end(`GET /api/v1/requests HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nno header\r\n\r\n`);
  await once(socket.resume(), 'close');
  const log = lines.join('');
  assert.match(log, /HPE_INVALID_HEADER_TOKEN.*a client sent an unreadable request/);
  assert.ok(!log.includes(key) && !log.includes([...Buffer.from(key)].join(',')), log);
});
