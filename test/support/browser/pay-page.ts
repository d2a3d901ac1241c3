import assert from 'node:assert/strict';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { callRpc } from '../../../src/chain/rpc.ts';
import type { Config } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { runJobs } from '../../../src/jobs.ts';
import type { NewRequest, RequestRow } from '../../../src/requests/store.ts';
import { startApp, testConfig } from '../app.ts';
import { type TestChain, testChain } from '../chain/chain.ts';
import { makeMerchant, makePartner, makeRequest } from '../fixtures.ts';
import { until } from '../until.ts';
import { assertAccessible } from './axe.ts';
import { openBrowser, photograph, sizes } from './browser.ts';
import { type PageWallet, putWallets } from './wallet-in-page.ts';

export type PayPageFixtures = Awaited<ReturnType<typeof payPageFixtures>>;
type FixtureOptions = {
  chains?: 1 | 2;
  liveChain?: true;
  testPanel?: true;
  config?: Partial<Config>;
  log?: Context['log'];
};

/**
 * Everything that the pay page needs: Chromium, the real server with all its loops, and real chains that mine only on
 * demand. The chains are called `Base Sandbox` and `Polygon Sandbox`, and each needs three confirmations.
 *
 * @param options `chains`: of test mode; `liveChain`: also one of live mode, `Base`; `testPanel`: as in the sandbox,
 *   where blocks come by themselves while a payment waits for them; `config`: further configuration
 */
export async function payPageFixtures(options: FixtureOptions = {}) {
  const own = options.chains ?? 1;
  const ids = [...[31337, 31339].slice(0, own), ...(options.liveChain ? [31338] : [])];
  const [browser, ...nodes] = await Promise.all([openBrowser(), ...ids.map((chainId) => testChain({ chainId }))]);
  const names: Record<number, string> = { 31337: 'Base Sandbox', 31338: 'Base', 31339: 'Polygon Sandbox' };
  for (const { chain } of nodes) {
    chain.name = names[chain.chainId] ?? chain.name;
    chain.finality = [{ upToUsdcMicro: null, confirmations: 3 }];
    chain.publicRpcUrl = chain.rpcUrls[0];
  }
  const all = nodes.map(({ chain }) => chain);
  const chains = { test: all.slice(0, own), live: all.slice(own) };
  // Chains named in the configuration are not the sandbox's own: no loop mines on them, and no test wallet pays there.
  const config = testConfig({ chains: options.testPanel ? null : chains, ...options.config });
  const app = await startApp({ chains, config, ...(options.log ? { log: options.log } : {}) });
  const stop = new AbortController();
  const jobs = runJobs(app.ctx, stop.signal);
  const cursors = async () => {
    const rows = await app.db.sql<{ chain_id: string; number: string }[]>`select chain_id, number from chain_cursors`;
    return rows.length === ids.length && Object.fromEntries(rows.map((row) => [row.chain_id, Number(row.number)]));
  };
  await until(cursors, 'the watchers begin');
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const [node] = nodes as [TestChain];

  return {
    app,
    db: app.db,
    node,
    nodes,
    scope,
    merchant,
    browser,
    request: async (details: Partial<NewRequest> = {}) =>
      makeRequest(app.db, scope, merchant, {
        startBlocks: (await cursors()) || {},
        memo: 'Two loaves of rye and a birthday cake',
        ...details,
      }),
    read: async ({ id }: { id: string }) => {
      const [row] = await app.db.sql<RequestRow[]>`select * from requests where id = ${id}`;
      if (!row) throw new Error(`no request ${id}`);
      return row;
    },
    /** Pays from another device, such as a phone. */
    pay: (request: RequestRow, payment: { usdcMicro?: bigint; tagged?: boolean } = {}) =>
      node.pay({
        from: node.wallet(),
        to: request.wallet_address,
        usdcMicro: payment.usdcMicro ?? BigInt(request.usdc_micro),
        reference: payment.tagged === false ? undefined : request.reference,
      }),
    /** Whether transactions are mined as they arrive, which is the default. */
    automine: (on: boolean) => callRpc(node.chain.rpcUrls[0] ?? '', 'evm_setAutomine', [on]),
    /** Opens the page of a request in a separate browser. */
    open: (request: RequestRow, customer: Customer = {}) => openPage(browser, app.url, request, customer),
    stop: async () => {
      stop.abort();
      await browser.close();
      await jobs;
      await app.stop();
      await Promise.all(nodes.map((one) => one.stop()));
    },
  };
}

type Customer = {
  wallets?: PageWallet[];
  /** The address of the server, or of a proxy that misbehaves. */
  origin?: string;
  context?: Parameters<Browser['newContext']>[0];
  /** Runs before the page is opened. */
  prepare?: (context: BrowserContext) => Promise<unknown>;
};

async function openPage(browser: Browser, url: string, request: RequestRow, customer: Customer) {
  const context = await browser.newContext({ viewport: sizes.phone, locale: 'en-GB', ...customer.context });
  if (customer.wallets) await putWallets(context, customer.wallets);
  await customer.prepare?.(context);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  let loads = 0;
  page.on('load', () => loads++);
  await page.goto(new URL(`/pay/${request.id}`, customer.origin ?? url).href);
  return {
    page,
    /** Errors on the console and errors thrown by scripts. */
    complaints,
    /** How often a document was loaded: once, unless something reloaded it. */
    loads: () => loads,
    /** Takes screenshots of the page as it is. Asserts that it is accessible and does not overflow sideways. */
    check: async (name: string) => {
      // News can arrive before the answer to the form that caused it, and until then the form's button is dimmed. A
      // wallet's button belongs to no form, and is busy for as long as the wallet asks.
      await page.locator('form[aria-busy="true"]').waitFor({ state: 'detached' });
      await photograph(page, `pay-${name}`);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(wide, 0, `${name}: wider than the screen`);
      await assertAccessible(page);
    },
    /** Waits until the page's status message says this. */
    says: (text: string | RegExp) => statusMessageOf(page).filter({ hasText: text }).waitFor(),
    close: () => context.close(),
  };
}

/** The status message: news above everything else, or, below the ways to pay, that no payment has arrived yet. */
export const statusMessageOf = (page: Page) => page.locator('[data-part="news"], [data-part="waiting"]');
