import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures();
});
after(() => fixtures?.stop());

/** The addresses in a document that a pattern finds. */
const addresses = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, path]) => path ?? '');

test('The pay page names all parts of its script → a browser requests them at once, each once, and needs no others', async () => {
  const request = await fixtures.request();
  const read = async () => (await fetch(new URL(`/pay/${request.id}`, fixtures.app.url))).text();
  const [script = ''] = addresses(await read(), /<script type="module"[^>]* src="([^"]+)"/g);
  await fetch(new URL(script, fixtures.app.url)); // the first one is answered once the islands are bundled
  const named = [script, ...addresses(await read(), /<link rel="modulepreload"[^>]* href="([^"]+)"/g)];
  assert.ok(named.length > 1);
  const requested: string[] = [];
  const { page, complaints } = await fixtures.open(request, {
    wallets: [pageWallet({ name: 'Violet', chains: [fixtures.node.chain] })],
    prepare: async (context) => {
      context.on('request', (sent) => {
        const { pathname } = new URL(sent.url());
        if (pathname.startsWith('/assets/') && sent.resourceType() === 'script') requested.push(pathname);
      });
    },
  });
  await page.getByRole('button', { name: /Violet/ }).waitFor();
  assert.deepEqual(requested.toSorted(), named.toSorted());
  assert.deepEqual(complaints, []);
});
