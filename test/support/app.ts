import type { ChainConfig } from '../../src/config/chains.ts';
import type { Config } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import { connect, type Database } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { makeLog } from '../../src/lib/log.ts';
import { systemClock } from '../../src/lib/time.ts';
import { sandbox } from '../../src/sandbox/sandbox.ts';
import { testRelayer } from './chain/relayer.ts';
import { testDatabase } from './database.ts';
import { testSecrets } from './fixtures.ts';

/** A chain that nobody queries, for tests whose requests are never paid. */
export function idleChain(chainId: number): ChainConfig {
  return {
    chainId,
    name: `Chain ${chainId}`,
    rpcUrls: ['http://127.0.0.1:9'],
    tokens: [{ symbol: 'USDC', address: `0x${'5f'.repeat(20)}` }],
    finality: [{ upToUsdcMicro: null, confirmations: 2 }],
    explorerUrl: null,
    recurringContract: null,
    pollMs: 100,
  };
}

export function testConfig(overrides: Partial<Config> = {}): Config {
  return {
    sandbox: true,
    devAllowCidrs: [],
    host: '127.0.0.1',
    port: 0,
    baseUrl: 'http://localhost:3000',
    payUrl: 'http://localhost:3000/pay',
    dataDir: '/nonexistent',
    databaseUrl: null,
    databaseOwnerUrl: null,
    databasePoolMode: 'session',
    databaseReadUrl: null,
    secretKeys: testSecrets,
    chains: null,
    rateProviders: ['fixed'],
    webhookScheduleMs: [0, 5000, 30_000],
    webhookAllowCidrs: ['127.0.0.0/8', '::1/128'],
    trustProxy: [],
    mail: null,
    phoneGateway: null,
    walletConnect: null,
    eraseCustomersAfterDays: null,
    hsts: true,
    drainSeconds: 0,
    pageLimit: 100_000, // tests open pages faster than people do
    tracing: null,
    metrics: { host: '127.0.0.1', port: null, token: null },
    relayer: { signers: [testRelayer] },
    deployer: null,
    logLevel: process.env.LOG_LEVEL ?? 'silent',
    misspelt: [],
    ...overrides,
  };
}

/** A context on a test database. By default its chains are never queried. */
export function testContext(db: Database, overrides: Partial<Context> = {}): Context {
  const config = overrides.config ?? testConfig();
  const chains = { test: [idleChain(31337)], live: [idleChain(31338)] };
  const base = { config, db, clock: systemClock, log: makeLog(config.logLevel), chains };
  return { ...base, sandbox: config.sandbox ? sandbox : null, ...overrides };
}

/** The real server without chains. Its API has a node's number of connections, apart from those of `database.db`. */
export async function startWithPools(overrides: Partial<Context> = {}) {
  const database = await testDatabase();
  const api = connect(database.access, { service: 8, scoped: 4 });
  const app = await buildServer(testContext(api, { chains: { test: [], live: [] }, ...overrides }), database.db);
  return {
    database,
    api,
    url: await app.listen({ host: '127.0.0.1', port: 0 }),
    stop: async () => {
      await app.close();
      await api.close();
      await database.drop();
    },
  };
}

/** The real server on a free loopback port, with its own database and without loops. */
export async function startApp(overrides: Partial<Context> = {}) {
  const database = await testDatabase();
  const ctx = testContext(database.db, overrides);
  const app = await buildServer(ctx).catch(async (error) => {
    await database.drop(); // an open pool would keep the test file from ending
    throw error;
  });
  const url = await app.listen({ host: '127.0.0.1', port: ctx.config.port });
  return {
    ctx,
    db: database.db,
    owner: database.owner,
    databaseUrl: database.url,
    access: database.access,
    app,
    /** `http://127.0.0.1:<port>` */
    url,
    stop: async () => {
      await app.close();
      await database.drop();
    },
  };
}
