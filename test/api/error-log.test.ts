import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { newToken } from '../../src/auth/token.ts';
import { startApp } from '../support/app.ts';

const lines: string[] = [];
const into = new Writable({
  write: (chunk, _, done) => {
    lines.push(String(chunk));
    done();
  },
});
let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp({ log: pino({ level: 'trace' }, into) });
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
