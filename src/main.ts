import './lib/threads.ts';
import type { FastifyInstance } from 'fastify';
import { announceRecurring } from './chain/recurring/announce.ts';
import { nameEndpoints } from './chain/rpc.ts';
import { checkTokens } from './chain/tokens.ts';
import { watchChildServers } from './child-servers.ts';
import { keepAddress } from './config/address.ts';
import { misspeltAdvice } from './config/misspelt.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import type { Context } from './context.ts';
import { claimBaseUrl } from './db/base-urls.ts';
import { checkSecretKeys } from './db/secret-keys.ts';
import { endInTime, stopServers } from './http/drain.ts';
import { buildMetricsServer } from './http/health.ts';
import { buildServer } from './http/server.ts';
import { runJobs } from './jobs.ts';
import { lockDataDir } from './lib/data-dir-lock.ts';
import { RunFault, StartFault } from './lib/start-fault.ts';
import { printableLines } from './lib/text/printable.ts';
import { announceRemovedChains } from './payments/silent-chains.ts';
import { rateSources } from './rates/providers.ts';
import { refreshIfDue } from './rates/refresh.ts';
import { openService, type RunningService } from './service.ts';
import { startTracing } from './trace.ts';

/** An error from then on is why the service stopped, not why it cannot start. */
let wasReady = false;

/** Starts the service (config → context → listen → loops) and stops it in reverse order. */
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const unlock = usesDataDir(config) ? lockDataDir(config.dataDir) : () => {};
  const ending = new AbortController();
  // Not `once`: npm repeats a terminal's Ctrl-C, and the second signal must not interrupt the stop.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => ending.abort());
  try {
    const service = await openService(config, ending.signal).catch((error) => {
      if (ending.signal.aborted && error === ending.signal.reason) return null;
      throw error;
    });
    if (!service) return;
    try {
      const endTracing = await traceIfAsked(service.ctx);
      try {
        if (!ending.signal.aborted) await serve(service, ending);
      } finally {
        await endTracing?.();
      }
    } finally {
      await service.close();
    }
  } finally {
    unlock();
  }
}

/** Starts tracing if a collector is configured. Otherwise no tracing code is loaded. */
async function traceIfAsked({ config, chains, log }: Context): Promise<(() => Promise<void>) | null> {
  if (!config.tracing) return null;
  nameEndpoints(Object.values(chains).flat());
  return startTracing(config.tracing, log);
}

/** Whether the service keeps data on this machine: not if the operator provides both the database and the chains. */
const usesDataDir = ({ databaseUrl, chains }: Config): boolean => databaseUrl === null || chains === null;

async function serve({ ctx, pools, parts }: RunningService, ending: AbortController): Promise<void> {
  const { config } = ctx;
  for (const misspelt of config.misspelt) ctx.log.warn(misspelt, misspeltAdvice(misspelt));
  await claimBaseUrl(ctx.db.sql, config);
  await checkSecretKeys(ctx.db.sql, config.secretKeys);
  await checkChains(ctx);
  await announceRecurring(ctx);
  void announceRemovedChains(ctx); // a hint, for which no start waits
  await ctx.sandbox?.fundRelayer(ctx);
  await refreshIfDue(ctx, rateSources(config.rateProviders)).catch((error) => {
    ctx.log.error({ err: error }, 'rates could not be fetched yet; requests cannot be created until they are');
  });
  const app = await buildServer(ctx, pools.pages, ending.signal);
  await app.listen({ host: config.host, port: config.port }).catch((error) => {
    throw asListenFault('', config, error);
  });
  if (usesDataDir(config)) keepAddress(config);
  const metricsServer = await listenForOperators(ctx, ending.signal).catch(async (error) => {
    await app.close();
    throw error;
  });
  const jobs = runJobs(ctx, ending.signal, { pools });
  const watched = watchChildServers(parts, ending.signal);
  // Awaiting them below throws the error again, once the server is closed.
  for (const work of [jobs, watched])
    work.catch(() => {
      process.exitCode = 1;
      ending.abort();
    });
  try {
    // In production, standard output contains only log lines.
    if (ctx.sandbox) process.stdout.write(await ctx.sandbox.welcome(ctx, await ctx.sandbox.seedDemo(ctx)));
    else ctx.log.info({ base_url: config.baseUrl, sandbox: false }, `Quittance is ready at ${config.baseUrl}`);
    wasReady = true;
    await aborted(ending.signal);
  } finally {
    ending.abort();
    // An embedded database and local chains are stopped in order, however long that takes.
    if (!usesDataDir(config)) endInTime(ctx.log);
    await stopServers(app, metricsServer, config.drainSeconds * 1000);
    await jobs;
    await watched;
  }
}

/** Opens the operator's listener for metrics, if one is configured. */
async function listenForOperators(ctx: Context, stopping: AbortSignal): Promise<FastifyInstance | null> {
  const { host, port } = ctx.config.metrics;
  if (port === null) return null;
  const app = await buildMetricsServer(ctx, stopping);
  await app.listen({ host, port }).catch((error) => {
    throw asListenFault('METRICS_', { host, port }, error);
  });
  return app;
}

async function checkChains(ctx: Context): Promise<void> {
  try {
    await Promise.all(Object.values(ctx.chains).flat().map(checkTokens));
  } catch (error) {
    throw new StartFault((error as Error).message, { cause: error });
  }
}

type Listening = { host: string; port: number };

/** @param prefix the prefix of the settings `HOST` and `PORT` that were used */
function asListenFault(prefix: '' | 'METRICS_', { host, port }: Listening, error: NodeJS.ErrnoException): Error {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is in use. Stop the program that uses it, or set another ${prefix}PORT.`,
    EACCES: `Port ${port} of ${host} cannot be opened by this user. Set a ${prefix}PORT of 1024 or more.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set another ${prefix}HOST.`,
    ENOTFOUND: `The host ${host} was not found. Set another ${prefix}HOST.`,
  };
  const reason = reasons[error.code ?? ''];
  return reason ? new StartFault(reason, { cause: error }) : error;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || error instanceof StartFault || error instanceof RunFault;
  const hasRun = wasReady || error instanceof RunFault;
  const why = known ? '' : ' because of an unexpected error';
  const what = hasRun ? `Quittance has stopped${why}.` : 'Quittance cannot start.';
  process.stderr.write(`${printableLines(`${what} ${known ? error.message : (error as Error).stack}`)}\n`);
  process.exitCode = 1;
});
