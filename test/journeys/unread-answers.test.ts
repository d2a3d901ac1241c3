import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { startApp } from '../support/app.ts';
import { until } from '../support/until.ts';

test('a client takes nothing of a long answer › its connection ends after 30 seconds', async (t) => {
  const app = await startApp();
  const connected = once(app.app.server, 'connection');
  const client = connect(Number(new URL(app.url).port), '127.0.0.1').pause();
  client.on('error', () => {});
  t.after(async () => {
    client.destroy();
    await app.stop();
  });
  client.write('GET /docs/js/scalar.js HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [socket] = (await connected) as [Socket];
  await until(() => socket.bytesWritten > 0 && socket.timeout === 30_000, 'a limit for what is unread');
});
