import { startWatching } from '../../../src/chain/reader/watcher.ts';
import { callRpc } from '../../../src/chain/rpc.ts';
import type { Context } from '../../../src/context.ts';
import type { Scope } from '../../../src/db/connection.ts';
import { matchPending } from '../../../src/payments/match.ts';
import { verifyFinal } from '../../../src/payments/proof/verify.ts';
import { undoRemoved } from '../../../src/payments/undo-removed.ts';
import type { NewRequest, RequestRow } from '../../../src/requests/store.ts';
import { testContext } from '../app.ts';
import { type TestChain, testChain } from '../chain/chain.ts';
import { testDatabase } from '../database.ts';
import { makeMerchant, makePartner, makeRequest } from '../fixtures.ts';
import { until } from '../until.ts';

/** A clock that tests can set forward. */
export function movableClock() {
  let aheadMs = 0;
  return {
    now: () => new Date(Date.now() + aheadMs),
    forward: (ms: number) => {
      aheadMs += ms;
    },
  };
}

/**
 * A real chain, its real watcher, which compares no endpoints, and a partner with a merchant. The payment loops run
 * only when a test says so.
 *
 * @param firstEndpoint makes, from the chain's address, the endpoints that the watcher reads instead of the chain
 */
export async function payFixtures(
  secondEndpoint: string[] = [],
  firstEndpoint: (target: string) => Promise<string[]> = async () => [],
) {
  const database = await testDatabase();
  const node = await testChain();
  node.chain.rpcUrls.push(...secondEndpoint);
  node.chain.rpcUrls.unshift(...(await firstEndpoint(node.chain.rpcUrls[0] ?? '')));
  const clock = movableClock();
  const ctx = testContext(database.db, { chains: { test: [node.chain], live: [] }, clock });
  const stop = new AbortController();
  const watching = startWatching(ctx, { onRemoved: undoRemoved }, stop.signal, null);
  await until(() => cursorOf(ctx, node), 'the watcher begins');
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);

  const fixtures = {
    ctx,
    db: database.db,
    owner: database.owner,
    access: database.access,
    node,
    scope,
    merchant,
    clock,
    /** A request made at the chain's current block. */
    request: async (details: Partial<NewRequest> = {}) => {
      const startBlocks = { [node.chain.chainId]: (await cursorOf(ctx, node)) ?? 0 };
      return makeRequest(database.db, scope, merchant, { startBlocks, ...details });
    },
    read: (request: { id: string }) => readRow(ctx, scope, request.id),
    /** Waits until the watcher has read the chain's newest block. */
    caughtUp: () =>
      until(async () => {
        // By hash: after a reorganisation the block number can be the same.
        const head = (await callRpc(node.chain.rpcUrls[0] ?? '', 'eth_getBlockByNumber', ['latest', false])) as {
          hash: string;
        };
        const rows = await database.db.sql`select from chain_cursors where hash = ${head.hash}`;
        return rows.length > 0;
      }, 'the watcher catches up'),
    /** Waits for the watcher, then runs each loop once. */
    turn: async () => {
      await fixtures.caughtUp();
      await matchPending(ctx);
      await verifyFinal(ctx);
    },
    pay: async (request: RequestRow, options: { usdcMicro?: bigint; tagged?: boolean; from?: Wallet } = {}) => {
      const reference = options.tagged === false ? undefined : request.reference;
      const usdcMicro = options.usdcMicro ?? BigInt(request.usdc_micro);
      const from = options.from ?? node.wallet();
      return { from, txHash: await node.pay({ from, to: request.wallet_address, usdcMicro, reference }) };
    },
    transfer: async (txHash: string) => {
      const [row] = await database.db.sql`select * from transfers where tx_hash = ${txHash}`;
      return row;
    },
    events: (request: { id: string }) =>
      database.db.sql`select * from webhook_deliveries where request_id = ${request.id}`,
    stop: async () => {
      stop.abort();
      await watching;
      await node.stop();
      await database.drop();
    },
  };
  return fixtures;
}

type Wallet = ReturnType<TestChain['wallet']>;
export type PayFixtures = Awaited<ReturnType<typeof payFixtures>>;

async function cursorOf(ctx: Context, node: TestChain): Promise<number | null> {
  const [row] = await ctx.db.sql<{ number: string }[]>`
    select number from chain_cursors where chain_id = ${node.chain.chainId}`;
  return row ? Number(row.number) : null;
}

async function readRow(ctx: Context, scope: Scope, id: string): Promise<RequestRow> {
  const [row] = await ctx.db.sql<RequestRow[]>`
    select * from requests where partner_id = ${scope.partnerId} and id = ${id}`;
  if (!row) throw new Error(`no request ${id}`);
  return row;
}
