import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';
import { readConfig } from '../src/config.ts';
import { buildServer } from '../src/http/server.ts';
import { rateSources } from '../src/rates/providers.ts';
import { refreshIfDue } from '../src/rates/refresh.ts';
import { seedDemo } from '../src/sandbox/demo.ts';
import { openService } from '../src/service.ts';
import { findChromium } from '../test/support/browser/chromium.ts';
import { spread } from './rounds.ts';

/**
 * Measures the size of a first view of the pay page, and how soon it can be used on a slow connection, compared with
 * the page of another payment product in the same browser and run: `npm run bench:page`. Needs the npm registry, for
 * that product.
 */
const rival = '@x402/paywall@2.12.0';
const rounds = Number(process.env.BENCH_ROUNDS || 8);
/** A phone on slow mobile data: 1.6 Mbit/s, 150 ms round trip. */
const connection = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 };
const limitMs = 120_000;

type Arm = { name: string; url: string; ready: string };
type View = { bytes: number; readyMs: number };

/** Opens a page with an empty cache, as a customer does. `bytes` are those on the wire, headers included. */
async function view(browser: Browser, { url, ready }: Arm): Promise<View> {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', connection);
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const from = performance.now();
  await page.goto(url, { waitUntil: 'commit', timeout: limitMs });
  await page.locator(ready).first().waitFor({ state: 'visible', timeout: limitMs });
  const readyMs = performance.now() - from;
  await page.waitForLoadState('load', { timeout: limitMs });
  await context.close();
  return { bytes, readyMs };
}

/** Serves the other product's page for the same amount from its package, with gzip. */
async function serveRival(folder: string): Promise<Server> {
  execFileSync('npm', ['pack', rival, '--silent', '--pack-destination', folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  execFileSync('tar', ['xzf', join(folder, 'x402-paywall-2.12.0.tgz'), '-C', folder]);
  // Its only import is viem, which is installed here.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(import.meta.dirname, '../node_modules/viem'), join(folder, 'node_modules/viem'));
  const { createPaywall, evmPaywall } = await import(pathToFileURL(join(folder, 'package/dist/esm/index.js')).href);
  const paywall = createPaywall()
    .withNetwork(evmPaywall)
    .withConfig({ appName: 'Ada’s Bakery', testnet: true })
    .build();
  const page: string = paywall.generateHtml({
    x402Version: 2,
    error: '',
    resource: { url: 'http://localhost/bread', description: 'Two loaves', mimeType: 'text/html' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:84532',
        amount: '13586957',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        payTo: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
        maxTimeoutSeconds: 300,
        extra: { name: 'USDC', version: '2' },
      },
    ],
  });
  const body = gzipSync(page);
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Starts its own sandbox and creates a request of its demo merchant. */
async function servePayPage(folder: string): Promise<{ url: string; stop(): Promise<void> }> {
  const config = readConfig({ DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'error' });
  const { ctx, close } = await openService(config);
  await refreshIfDue(ctx, rateSources(config.rateProviders));
  const app = await buildServer(ctx);
  const stop = () => app.close().then(close);
  try {
    const { test_key, merchant } = await seedDemo(ctx);
    const origin = await app.listen({ host: '127.0.0.1', port: 0 });
    const answer = await fetch(`${origin}/api/v1/requests/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${test_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ account_id: merchant, fiat_amount_int: 1250, memo: 'Two loaves' }),
    });
    const { request_id } = (await answer.json()) as { request_id: string };
    return { url: `${origin}/pay/${request_id}`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function main(): Promise<void> {
  const executablePath = findChromium();
  if (!executablePath) throw new Error('Chromium was not found: install it first.');
  const folder = mkdtempSync(join(tmpdir(), 'quittance-page-'));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  try {
    const own = await servePayPage(folder);
    stops.push(own.stop);
    const server = await serveRival(folder);
    stops.push(() => server.close());
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    stops.push(() => browser.close());
    const arms: Arm[] = [
      { name: 'Quittance, to the QR code', url: own.url, ready: '.qr svg' },
      {
        name: `${rival}, to its first button`,
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        ready: 'button',
      },
    ];
    const views = new Map<string, View[]>(arms.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      for (const arm of round % 2 === 0 ? arms : arms.toReversed()) views.get(arm.name)?.push(await view(browser, arm));
    }
    for (const [name, seen] of views) {
      const kilobytes = spread(seen.map(({ bytes }) => bytes / 1000)).median;
      const seconds = spread(seen.map(({ readyMs }) => readyMs / 1000));
      const range = `${seconds.min.toFixed(2)} to ${seconds.max.toFixed(2)}`;
      process.stdout.write(
        `${name}: ${kilobytes.toFixed(1)} kB on the wire, ${seconds.median.toFixed(2)} s (${range})\n`,
      );
    }
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

await main();
