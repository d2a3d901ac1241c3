import type { ChainConfig } from '../../../src/config/chains.ts';
import { type Access, connect } from '../../../src/db/connection.ts';
import { testConfig, testContext } from '../app.ts';
import { testRelayer } from '../chain/relayer.ts';
import { runLoops } from './mortal.ts';

/** What a process of its own needs: who it is to the database, the chain, and the time that it takes to be. */
export type NodeWork = {
  access: Omit<Access, 'scopeKey'> & { scopeKey: string };
  /** Without its amounts, which JSON does not hold. */
  chain: Omit<ChainConfig, 'finality'>;
  now: string;
};

// Runs the loops again and again until it is killed, which is what its parent does.
const { access, chain, now } = JSON.parse(process.env.WORK ?? '') as NodeWork;
const db = connect({ ...access, scopeKey: Buffer.from(access.scopeKey, 'hex') }, { service: 4, scoped: 4 });
const clock = { now: () => new Date(now) };
const config = testConfig({ relayer: { signers: [testRelayer] } });
const finality = [{ upToUsdcMicro: null, confirmations: 2 }];
const ctx = testContext(db, { config, clock, chains: { test: [{ ...chain, finality }], live: [] } });
process.stdout.write('ready\n');
for (;;) await runLoops(ctx);
