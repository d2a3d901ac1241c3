import { randomUUID } from 'node:crypto';
import { encodeFunctionData, erc20Abi } from 'viem';
import { acquireLease } from '../../../src/chain/reader/lease.ts';
import { leaseName, makeReader } from '../../../src/chain/reader/watcher.ts';
import { followRelays } from '../../../src/chain/relay/follow.ts';
import { enqueueCall, type RelayCall, readRelay, simulate } from '../../../src/chain/relay/relay.ts';
import { callRpc, type Hex } from '../../../src/chain/rpc.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import type { Context } from '../../../src/context.ts';
import type { Database } from '../../../src/db/connection.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import { devUsdcAddress } from '../../../src/sandbox/usdc.ts';
import { testContext } from '../app.ts';
import { testDatabase } from '../database.ts';
import { makePartner } from '../fixtures.ts';
import { until } from '../until.ts';
import { testChain } from './chain.ts';
import { fundRelayer, lookAnew, testRelayer } from './relayer.ts';
import { pollUntil } from './watch-fixtures.ts';

/** `approve(spender, amount)` of the token: a call that anybody can make. */
export const approval = (amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [`0x${'ab'.repeat(20)}`, amount] });

/** A real chain with a relayer that holds coin, and a database with a partner. Loops run only when a test says so. */
export async function relayFixtures(overrides: Partial<ChainConfig> = {}) {
  const database = await testDatabase();
  const node = await testChain({ pollMs: 10 });
  const chain: ChainConfig = { ...node.chain, ...overrides };
  const ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  const { test: scope } = await makePartner(database.db);
  const url = node.chain.rpcUrls[0] ?? '';
  await fundRelayer(node.chain);

  const fixtures = {
    ctx,
    db: database.db,
    owner: database.owner,
    databaseUrl: database.url,
    node,
    chain,
    scope,
    url,
    /** A call of the token, for a new subject. */
    call: (details: Partial<RelayCall> = {}): RelayCall => ({
      ...{ scope, chain, from: null, to: devUsdcAddress, data: approval(7n) },
      ...{ purpose: 'charge' as const, subjectId: randomUUID(), accountId: randomUUID() },
      ...details,
    }),
    /** Simulates and enqueues a call. */
    allot: (call: RelayCall, within: Context = ctx) => allotAlone(within, call),
    /** One pass of the loop, as if all its waits were over. */
    follow: async (within: Context = ctx) => {
      await arrived();
      await passTime(database.db, 60);
      return followRelays(within, within.chains.test[0] ?? chain, findOvertaken);
    },
    /** Reads the chain, so that its head is known. */
    read: async () => {
      await arrived();
      await readOnce(ctx, node.chain);
    },
    state: async (id: string) => (await readRelay(database.db.sql, id))?.state,
    rpc: (method: string, params: unknown[] = []) => callRpc(url, method, params),
    /** How many transactions of the relayer are mined. */
    mined: async (address: Hex = testRelayer.address) => {
      await arrived();
      return Number(await callRpc(url, 'eth_getTransactionCount', [address, 'latest']));
    },
    stop: async () => {
      await node.stop();
      await database.drop();
    },
  };

  /** Waits for mining: the chain mines a transaction a moment after it has accepted it. */
  async function arrived(): Promise<void> {
    if (!(await callRpc(url, 'anvil_getAutomine', []))) return;
    const isMined = async () => ((await callRpc(url, 'txpool_status', [])) as { pending: Hex }).pending === '0x0';
    await until(isMined, 'what was sent to be mined');
  }

  await fixtures.read();
  await fixtures.follow();
  return fixtures;
}

/** Makes everything that the relayer has done older by this many seconds. */
export async function passTime(db: Database, seconds: number): Promise<void> {
  const { sql } = db;
  const ago = sql`${seconds} * interval '1 second'`;
  await lookAnew(db);
  await sql`
    update relay_transactions set allotted_at = allotted_at - ${ago}, sent_at = sent_at - ${ago},
      tried_at = tried_at - ${ago}, refused_at = refused_at - ${ago} where ended_at is null`;
}

export type RelayFixtures = Awaited<ReturnType<typeof relayFixtures>>;

/** Simulates a call and takes it on in a transaction of its own. */
export async function allotAlone(ctx: Context, call: RelayCall): Promise<string> {
  const simulated = await simulate(ctx, call);
  const gas = simulated.kind === 'ok' ? simulated.gas : 100_000n;
  return ctx.db.transaction((tx) => enqueueCall(ctx, tx, call, gas));
}

async function readOnce(ctx: Context, chain: ChainConfig): Promise<void> {
  await ctx.db.sql`update leases set held_until = now() where name = ${leaseName(chain)}`;
  const lease = await acquireLease(ctx.db, leaseName(chain), randomUUID());
  if (!lease) throw new Error('the lease is not free');
  const reader = await makeReader(
    ctx,
    { chain, testMode: true },
    lease,
    { onRemoved: async () => {} },
    new AbortController().signal,
  );
  const { hash } = (await callRpc(chain.rpcUrls[0] ?? '', 'eth_getBlockByNumber', ['latest', false])) as { hash: Hex };
  const isRead = async () => {
    const rows = await ctx.db.sql`select from chain_blocks where chain_id = ${chain.chainId} and hash = ${hash}`;
    return rows.length > 0;
  };
  await pollUntil(reader, isRead);
}
