import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { sizes } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ chains: 2 });
});
after(() => fixtures?.stop());

const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    const label = element?.closest('label');
    return element?.ariaLabel ?? (label ?? element)?.textContent?.trim();
  });

/** Each control, and what has the focus once a part was paid while it had it. */
const controls: [string, (page: Page) => Locator, string][] = [
  ['a network', (page) => page.getByLabel('Polygon Sandbox'), 'Polygon Sandbox'],
  ['a wallet', (page) => page.getByRole('button', { name: 'Pay with Violet' }), 'Pay the rest with Violet'],
  ['a way to pay', (page) => page.getByText('Pay manually or from an exchange'), 'Pay manually or from an exchange'],
  ['a button that copies', (page) => page.getByRole('button', { name: 'Copy address' }), 'Copy address'],
];

test('a part is paid while a control of the page has the focus → it keeps it, also where browser code shows it', async () => {
  const wallet = pageWallet({ name: 'Violet', chains: fixtures.nodes.map(({ chain }) => chain) });
  for (const [name, control, then] of controls) {
    const request = await fixtures.request();
    const { page, says, close } = await fixtures.open(request, { wallets: [wallet] });
    await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
    await page.getByText('Pay manually or from an exchange').click();
    await control(page).first().focus();
    await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 2_500_000n });
    await says('USDC is missing');
    await page.getByRole('button', { name: 'Pay the rest with Violet' }).waitFor();
    assert.equal(await focused(page), then, name);
    await close();
  }
});

test('somebody with a wallet has unfolded the code for a phone → it stays unfolded when a part is paid', async () => {
  const wallet = pageWallet({ name: 'Violet', chains: fixtures.nodes.map(({ chain }) => chain) });
  const request = await fixtures.request();
  const { page, says, close } = await fixtures.open(request, {
    wallets: [wallet],
    context: { viewport: sizes.desktop },
  });
  await page.getByRole('button', { name: 'Pay with Violet' }).waitFor();
  const code = page.locator('details.phone svg');
  await code.waitFor({ state: 'hidden' });
  await page.getByText('Phone wallet').click();
  await code.waitFor();
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - 2_500_000n });
  await says('USDC is missing');
  await page.getByRole('button', { name: 'Pay the rest with Violet' }).waitFor();
  assert.equal(await code.isVisible(), true);
  await close();
});
