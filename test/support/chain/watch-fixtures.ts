import { randomUUID } from 'node:crypto';
import { acquireLease, type Lease } from '../../../src/chain/reader/lease.ts';
import { poll, type Reader, type WatchHooks } from '../../../src/chain/reader/read.ts';
import type { RemovedTransfer } from '../../../src/chain/reader/removed.ts';
import { leaseName, makeReader } from '../../../src/chain/reader/watcher.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import { pause } from '../../../src/lib/time.ts';
import { testContext } from '../app.ts';
import { testDatabase } from '../database.ts';
import { makeMerchant, makePartner, makeRequest } from '../fixtures.ts';
import { patienceMs } from '../patience.ts';
import { testChain } from './chain.ts';

export type TransferRow = {
  tx_hash: string;
  ordinal: number;
  log_index: number;
  block_number: string;
  block_hash: string;
  block_time: Date;
  from_address: string;
  to_address: string;
  value: string;
  account_id: string;
  calldata_reference: Buffer | null;
  calldata_read: boolean;
};

/** A real chain, and a database with one merchant whose wallet is watched from its first request on. */
export async function watchFixtures() {
  const database = await testDatabase();
  const node = await testChain({ pollMs: 10 });
  const ctx = testContext(database.db, { chains: { test: [node.chain], live: [] } });
  const { test: scope } = await makePartner(database.db);
  const merchant = await makeMerchant(database.db, scope);
  const removed: RemovedTransfer[] = [];
  const hooks: WatchHooks = {
    onRemoved: async (_tx, keys) => {
      removed.push(...keys);
    },
  };

  const fixtures = {
    ctx,
    db: database.db,
    node,
    scope,
    merchant,
    removed,
    hooks,
    request: () => makeRequest(database.db, scope, merchant),
    pay: (usdcMicro: bigint, reference?: Uint8Array) =>
      node.pay({ from: node.wallet(), to: merchant.wallet, usdcMicro, reference }),
    /** The lease on this chain, taken from its holder as if it had expired. */
    lease: async (): Promise<Lease> => {
      await database.db
        .sql`update leases set held_until = now() - interval '1 second' where name = ${leaseName(node.chain)}`;
      const lease = await acquireLease(database.db, leaseName(node.chain), randomUUID());
      if (!lease) throw new Error('the lease is not free');
      return lease;
    },
    /** A reader that leads this chain through the given endpoints, without its own loop. */
    reader: async (rpcUrls = node.chain.rpcUrls, changes: Partial<ChainConfig> = {}): Promise<Reader> => {
      const chain = { ...node.chain, ...changes, rpcUrls };
      return makeReader(ctx, { chain, testMode: true }, await fixtures.lease(), hooks, new AbortController().signal);
    },
    transfers: () =>
      database.db.sql<TransferRow[]>`
        select * from transfers where chain_id = ${node.chain.chainId} order by block_number, tx_hash, ordinal`,
    cursor: async () => {
      const [row] = await database.db.sql`select * from chain_cursors where chain_id = ${node.chain.chainId}`;
      return row ? { number: Number(row.number), hash: row.hash as string } : null;
    },
    stop: async () => {
      await node.stop();
      await database.drop();
    },
  };
  return fixtures;
}

export type WatchFixtures = Awaited<ReturnType<typeof watchFixtures>>;

/** Keeps reading until the condition holds. */
export async function pollUntil(reader: Reader, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('waited in vain');
    await pause((await poll(reader)).waitMs);
  }
}
