import { followRelays } from '../../../src/chain/relay/follow.ts';
import { callRpc } from '../../../src/chain/rpc.ts';
import { limitsOf } from '../../../src/config/chains.ts';
import { runJobs } from '../../../src/jobs.ts';
import { freePort } from '../../../src/lib/ports.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import type { NewRequest, RequestRow } from '../../../src/requests/store.ts';
import { headNumber } from '../../../src/sandbox/wallet.ts';
import { startApp, testConfig } from '../app.ts';
import { type TestWallet, testChain } from '../chain/chain.ts';
import { fundRelayer, learnDomains, lookAnew, testRelayer } from '../chain/relayer.ts';
import { makeMerchant, makePartner, makeRequest } from '../fixtures.ts';
import { until } from '../until.ts';

/** The whole service in this process: its server and all its loops, on a real chain with a relayer that holds coin. */
export async function agentFixtures() {
  const node = await testChain();
  await fundRelayer(node.chain);
  await learnDomains(node.chain);
  // The relayer soon resends a transaction that a reorganisation removed.
  node.chain.relayer = { ...limitsOf(node.chain), resendMs: 1_000 };
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const config = testConfig({ port, baseUrl: base, payUrl: `${base}/pay`, webhookScheduleMs: [0, 200] });
  const app = await startApp({ config, chains: { test: [node.chain], live: [] }, sandbox: null });
  const { db, ctx } = app;
  const stop = new AbortController();
  const running = runJobs(ctx, stop.signal, { pollMs: 200 });
  const { partner, test: scope } = await makePartner(db);
  const merchant = await makeMerchant(db, scope);
  await until(async () => (await db.sql`select from relay_accounts`).length > 0, 'the relayer to be ready');
  const rpc = (method: string, params: unknown[] = []) => callRpc(node.chain.rpcUrls[0] ?? '', method, params);

  return {
    ...{ ctx, db, node, partner, scope, merchant, rpc, chain: node.chain },
    /** A request, and the address of its pay page. */
    request: async (details: Partial<NewRequest> = {}) => {
      const startBlocks = { [node.chain.chainId]: await headNumber(node.chain) };
      const row = await makeRequest(db, scope, merchant, { startBlocks, ...details });
      return { ...row, url: `${config.payUrl}/${row.id}` };
    },
    read: async ({ id }: { id: string }): Promise<RequestRow> => {
      const [row] = await db.sql<RequestRow[]>`select * from requests where id = ${id}`;
      if (!row) throw new Error('no such request');
      return row;
    },
    /** A wallet that holds dollars, and no coin for fees. */
    payer: async (usdcMicro = 100_000_000n): Promise<TestWallet> => {
      const wallet = node.wallet();
      if (usdcMicro > 0n) await node.fund(wallet.address, usdcMicro);
      await rpc('anvil_setBalance', [wallet.address, '0x0']);
      return wallet;
    },
    /** How many transactions the relayer has in the chain. */
    relayed: async () => Number(await rpc('eth_getTransactionCount', [testRelayer.address, 'latest'])),
    /** Has the relayer look at its account now. */
    lookAtAccount: async () => {
      await lookAnew(db);
      await followRelays(ctx, node.chain, findOvertaken);
    },
    stop: async () => {
      stop.abort();
      await running;
      await app.stop();
      await node.stop();
    },
  };
}

export type AgentFixtures = Awaited<ReturnType<typeof agentFixtures>>;
