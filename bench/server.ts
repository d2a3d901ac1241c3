import { readConfig } from '../src/config.ts';
import { buildServer } from '../src/http/server.ts';
import { openService } from '../src/service.ts';

/** The same server as in `main.ts`, without its loops, which would have nothing to do here. */
const service = await openService(readConfig(process.env));
const app = await buildServer(service.ctx, service.pools.pages);
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.once('disconnect', async () => {
  await app.close();
  await service.close();
});
process.send?.({ port: Number(new URL(address).port) });
