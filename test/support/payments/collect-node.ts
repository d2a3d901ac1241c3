import type { ChainConfig } from '../../../src/config/chains.ts';
import { type Access, connect } from '../../../src/db/connection.ts';
import { testConfig, testContext } from '../app.ts';
import { testRelayer } from '../chain/relayer.ts';
import { runLoops } from './killed-process.ts';

/** The input of a separate process: its access to the database, its chain, and its time. */
export type NodeWork = {
  access: Omit<Access, 'scopeKey'> & { scopeKey: string };
  /** Without `finality`, whose amounts are no JSON. */
  chain: Omit<ChainConfig, 'finality'>;
  now: string;
};

// Runs the loops repeatedly until its parent kills it.
const { access, chain, now } = JSON.parse(process.env.WORK ?? '') as NodeWork;
const db = connect({ ...access, scopeKey: Buffer.from(access.scopeKey, 'hex') }, { service: 4, scoped: 4 });
const clock = { now: () => new Date(now) };
const config = testConfig({ relayer: { signers: [testRelayer] } });
const finality = [{ upToUsdcMicro: null, confirmations: 2 }];
const ctx = testContext(db, { config, clock, chains: { test: [{ ...chain, finality }], live: [] } });
process.stdout.write('ready\n');
for (;;) await runLoops(ctx);
