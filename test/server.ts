import { keptFolder, startServer } from './runner/server.ts';

/** Keeps a PostgreSQL server running for test runs until it is stopped: `npm run test:server`. */
const server = await startServer(keptFolder);
console.log(`A server for tests runs at ${new URL(server.url).host}. npm test uses it until you press Ctrl-C.`);
const alive = setInterval(() => {}, 60_000);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, async () => {
    clearInterval(alive);
    await server.stop();
  });
}
