import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainConfig } from '../../src/config/chains.ts';
import { headNumber } from '../../src/sandbox/wallet.ts';
import { testContext } from './app.ts';
import { testChain } from './chain/chain.ts';
import { testDatabase } from './database.ts';
import { makeMerchant, makePartner, makeRequest, secretsText } from './fixtures.ts';
import { dataFolder } from './service.ts';

function entryOf(chain: ChainConfig) {
  return {
    chain_id: chain.chainId,
    rpc_urls: chain.rpcUrls,
    tokens: chain.tokens,
    finality: [{ confirmations: 2 }],
    poll_ms: 50,
  };
}

export async function twoChains() {
  const [test, live] = await Promise.all([testChain(), testChain({ chainId: 31338 })]);
  return { test, live, stop: () => Promise.all([test.stop(), live.stop()]) };
}

/** Writes the CHAINS_FILE of separate processes into a folder. */
export function chainsFile({ test, live }: Awaited<ReturnType<typeof twoChains>>, folder: string): string {
  const file = join(folder, 'chains-file.json');
  writeFileSync(file, JSON.stringify({ test: [entryOf(test.chain)], live: [entryOf(live.chain)] }));
  return file;
}

/**
 * A database and chains that outlive the services on them, and a partner in test mode with a merchant. `env` makes a
 * process started by `startService` one of the nodes of these fixtures.
 */
export async function nodeFixtures(chains: Awaited<ReturnType<typeof twoChains>>) {
  const database = await testDatabase();
  const { db } = database;
  const { partner, test: scope } = await makePartner(db);
  const merchant = await makeMerchant(db, scope);
  const folder = dataFolder();
  const payer = chains.test.wallet();
  await chains.test.fund(payer.address, 10n ** 13n);
  return {
    db,
    owner: database.owner,
    ctx: testContext(db),
    partner,
    scope,
    merchant,
    env: {
      DATABASE_URL: database.url,
      CHAINS_FILE: chainsFile(chains, folder),
      DATA_DIR: folder,
      SECRET_KEYS: secretsText,
    },
    /** A request that only later blocks can pay. */
    request: async () =>
      makeRequest(db, scope, merchant, {
        startBlocks: { [chains.test.chain.chainId]: await headNumber(chains.test.chain) },
        metadata: JSON.stringify({ order: String(Date.now()), '7': 'é' }),
      }),
    /** A tagged payment. */
    pay: (request: { wallet_address: string; usdc_micro: string; reference: Uint8Array }) =>
      chains.test.pay({
        from: payer,
        to: request.wallet_address,
        usdcMicro: BigInt(request.usdc_micro),
        reference: request.reference,
      }),
    drop: () => database.drop(),
  };
}

export type NodeFixtures = Awaited<ReturnType<typeof nodeFixtures>>;
