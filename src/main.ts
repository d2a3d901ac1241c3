import { checkTokens } from './chain/status.ts';
import type { Config } from './config.ts';
import { ConfigError, readConfig } from './config.ts';
import { seedDemo } from './demo.ts';
import { runJobs } from './jobs.ts';
import { lockDataDir } from './lib/lock.ts';
import { rateSources } from './rates/providers.ts';
import { refreshIfDue } from './rates/refresh.ts';
import { buildServer } from './server.ts';
import { openService, type Service } from './service.ts';
import { welcome } from './welcome.ts';

/** Starts the service: config → context → listen → loops, and ends it in the opposite order. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const unlock = config.databaseUrl && config.chains ? () => {} : lockDataDir(config.dataDir);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const service = await openService(config);
  try {
    await serve(config, service, ending.signal);
  } finally {
    await service.close();
    unlock();
  }
}

async function serve(config: Config, { ctx }: Service, ending: AbortSignal): Promise<void> {
  await Promise.all(Object.values(ctx.chains).flat().map(checkTokens));
  await refreshIfDue(ctx, rateSources(config.rateProviders)).catch((error) => {
    ctx.log.error({ err: error }, 'rates could not be fetched yet; creating requests waits for them');
  });
  const app = await buildServer(ctx);
  await app.listen({ host: config.host, port: config.port });
  const jobs = runJobs(ctx, ending);
  const demo = config.sandbox ? await seedDemo(ctx) : null;
  process.stdout.write(welcome(ctx, demo));
  if (!ending.aborted) await new Promise((resolve) => ending.addEventListener('abort', resolve, { once: true }));
  await app.close();
  await jobs;
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
  process.stderr.write(`Quittance does not start. ${known ? (error as Error).message : (error as Error).stack}\n`);
  process.exitCode = 1;
});
