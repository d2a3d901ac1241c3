import { startWatching } from '../../../src/chain/reader/watcher.ts';
import { connect } from '../../../src/db/connection.ts';
import { devUsdcAddress } from '../../../src/sandbox/usdc.ts';
import { idleChain, testContext } from '../app.ts';
import { accessTo } from '../database.ts';

/** A process that leads the chain of its environment until it is killed: the test kills it. */
const chain = {
  ...idleChain(31337),
  rpcUrls: [process.env.LEADER_RPC ?? ''],
  tokens: [{ symbol: 'USDC', address: devUsdcAddress }],
  pollMs: 50,
};
const ctx = testContext(connect(accessTo(process.env.LEADER_DATABASE ?? '')), { chains: { test: [chain], live: [] } });
await startWatching(ctx, { onRemoved: async () => {} }, new AbortController().signal);
