import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { startApp } from '../support/app.ts';

let app: Awaited<ReturnType<typeof startApp>>;

before(async () => {
  app = await startApp();
});
after(() => app?.stop());

/** Sends so many requests in one message; returns how many are answered before the connection is closed. */
async function answersTo(count: number): Promise<number> {
  const client = connect(Number(new URL(app.url).port), '127.0.0.1');
  const one = (connection: string) => `GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;
  client.write(one('keep-alive').repeat(count - 1) + one('close'));
  const answered = await text(client).catch((error) => {
    if (error.code === 'ECONNRESET') return '';
    throw error;
  });
  return answered.match(/HTTP\/1\.1 200 /g)?.length ?? 0;
}

test('requests that arrive together on one connection › a few are answered; at many it is closed', async () => {
  assert.equal(await answersTo(20), 20);
  const answered = await answersTo(1_000);
  assert.ok(answered <= 20, `${answered} were answered`);
  assert.equal(await answersTo(1), 1);
});
