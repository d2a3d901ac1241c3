import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { assertAccessible } from './axe.ts';
import { photograph, sizes } from './browser.ts';
import { type PageWallet, putWallets } from './wallet-in-page.ts';

/** A phone's browser with wallets, at an address of the service. Collects console messages and page errors. */
export async function openWith(
  { browser, app }: { browser: Browser; app: { url: string } },
  url: string,
  wallets: PageWallet[],
): Promise<{ page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: sizes.phone });
  await putWallets(context, wallets);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const { pathname } = new URL(url, app.url);
  await page.goto(app.url + pathname);
  return { page, complaints };
}

/** Presses a button by its text. */
export const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
/** Waits until a text appears on the page, and its scripts have run: they fold parts, and keep what is typed from then on. */
export async function see(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor();
  await page.waitForLoadState();
}

/** Asserts no sideways overflow and an accessible page, and takes a screenshot. */
export async function look(page: Page, name: string): Promise<void> {
  for (const size of Object.values(sizes)) {
    await page.setViewportSize(size);
    const widths = await page
      .locator('main *')
      .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().right));
    assert.ok(Math.max(...widths) <= size.width + 1, `${name} is wider than ${size.width}`);
  }
  await page.setViewportSize(sizes.phone);
  await assertAccessible(page);
  await photograph(page, name);
}
