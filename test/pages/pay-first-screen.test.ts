import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { renderSVG } from 'uqr';
import { getAddress } from 'viem';
import { formatMicro } from '../../src/lib/money.ts';
import { photograph, sizes, snap } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ chains: 2 });
});
after(() => fixtures?.stop());

const onPhone = { hasTouch: true, isMobile: true };

/** Where something ends, in pixels from the top of a page that was not scrolled. */
async function endOf(page: Page, selector: string): Promise<number> {
  const box = await page.locator(selector).first().boundingBox();
  assert.ok(box, `${selector} is shown`);
  return box.y + box.height;
}

/** Buttons in the accent colour: those that are plainly the next step. */
const primaryButtons = (page: Page) =>
  page.locator('button:visible, .apps > summary:visible').evaluateAll((all) =>
    all
      .filter((one) => {
        const { backgroundColor } = getComputedStyle(one);
        return backgroundColor !== 'rgba(0, 0, 0, 0)';
      })
      .map((one) => one.textContent?.trim()),
  );

test('a phone shows on its first screen who is paid, how much on which network, and one primary button', async () => {
  const memo = 'Two loaves of rye, a birthday cake and a very long note about the candles. '.repeat(6).trim();
  const violet = pageWallet({ name: 'Violet', chains: [fixtures.node.chain] });
  for (const [wallets, primary] of [
    [[], 'Open in your wallet app'],
    [[violet], 'Pay with Violet'],
  ] as const) {
    const request = await fixtures.request({ memo });
    const { page, check, close } = await fixtures.open(request, { wallets: [...wallets], context: onPhone });
    await page.getByRole('group', { name: 'Network' }).waitFor();
    if (wallets.length > 0) await page.getByRole('button', { name: primary }).waitFor();
    assert.deepEqual(await primaryButtons(page), [primary]);
    const exact = formatMicro(BigInt((await fixtures.read(request)).usdc_micro));
    assert.equal(await page.locator('.coin').textContent(), `${exact}\u00a0USDC on Base Sandbox or Polygon Sandbox`);
    for (const part of ['h1', '.amount', '.coin']) assert.ok((await endOf(page, part)) < 300, part);
    const button = wallets.length > 0 ? '.wallets button' : '.apps > summary';
    assert.ok((await endOf(page, button)) <= sizes.phone.height, 'the button needs no scrolling');
    await snap(page, `pay-first-${wallets.length}`);
    await check(`first-${wallets.length}`);
    assert.ok(!(await page.getByText('birthday cake').isVisible()));
    await page.getByText('What it is for').click();
    await page.getByText('birthday cake').waitFor();
    await close();
  }
});

test('no payment has arrived → the page says so below the ways to pay; one is seen → it comes first, and the ways are gone', async () => {
  const request = await fixtures.request();
  const { page, says, check, close } = await fixtures.open(request, { context: onPhone });
  const topOf = async (part: string) => (await page.locator(`[data-part="${part}"]`).boundingBox())?.y ?? Number.NaN;
  await says('Waiting for your payment');
  assert.ok((await topOf('waiting')) > (await topOf('ways')));
  await fixtures.pay(request);
  await says('Confirming your payment');
  assert.ok((await topOf('news')) < (await topOf('summary')));
  assert.equal(await page.locator('.ways').count(), 0);
  assert.equal(await page.getByText('Waiting for your payment').count(), 0);
  await check('first-confirming');
  await fixtures.node.mine(2);
  await says('Paid');
  await check('first-paid');
  await close();
});

test('paying manually: addresses with their checksum, QR codes of the address and of the transfer, the token folded and never copied', async () => {
  const request = await fixtures.request();
  const { page, check, close } = await fixtures.open(request, { context: onPhone });
  const [base] = fixtures.nodes;
  const token = base?.chain.tokens[0]?.address ?? '';
  const [wallet, contract] = [getAddress(request.wallet_address), getAddress(token)];
  const { usdc_micro: micro } = await fixtures.read(request);
  await page.getByText('Pay manually or from an exchange').click();
  const hand = page.locator('.manual [data-option="0"]');
  assert.deepEqual(
    await page.locator('.manual [data-copy]:visible').evaluateAll((all) => all.map((one) => one.dataset.copy)),
    [formatMicro(BigInt(micro)), wallet],
    'the amount and the address, and nothing else that money could be sent to',
  );
  const tokenCheck = hand.getByText('Check the token (never send to this address)');
  assert.ok(!(await hand.getByText(contract).isVisible()));
  await tokenCheck.click();
  await hand.getByText(contract).waitFor();
  await hand.getByText('Scan the address').click();
  await hand.getByText('Scan address and amount').click();
  await hand.getByText('Your wallet must show this address and this amount; otherwise stop.').waitFor();
  const codes = await hand.locator('img').evaluateAll((all) => all.map((one) => (one as HTMLImageElement).src));
  const expected = [wallet, `ethereum:${contract}@${base?.chain.chainId}/transfer?address=${wallet}&uint256=${micro}`];
  for (const [i, text] of expected.entries()) {
    const svg = await (await fetch(codes[i] ?? '')).text();
    assert.equal(svg, renderSVG(text, { border: 3, ecc: 'M' }), text);
  }
  await check('first-by-hand');
  await close();
});

test('a phone shows no QR code of its own page; a desktop does, and so does paper, whatever was folded', async () => {
  const request = await fixtures.request();
  for (const [context, count] of [
    [onPhone, 0],
    [{}, 0],
    [{ viewport: sizes.desktop }, 1],
  ] as const) {
    const { page, close } = await fixtures.open(request, { context });
    await page.getByRole('heading', { name: 'How do you want to pay?' }).waitFor();
    assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), count, JSON.stringify(context));
    assert.equal(await page.locator('.apps').isVisible(), count === 0);
    if (count > 0) await page.getByText('Phone wallet').click();
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 1, 'on paper');
    await photograph(page, `pay-on-paper-${count}`);
    await close();
  }
});

test('in Arabic the amount due stands to the right of its network', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request, { context: { ...onPhone, locale: 'ar' } });
  const line = page.locator('[data-part="summary"] .coin');
  const left = (word: string) =>
    line.evaluate((element, word) => {
      const range = document.createRange();
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.textContent?.indexOf(word) ?? -1;
        if (at < 0) continue;
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        return range.getBoundingClientRect().left;
      }
      throw new Error(`${word} is not shown`);
    }, word);
  assert.ok((await left('USDC')) > (await left('Base')));
  await close();
});
