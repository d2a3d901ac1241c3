import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { payTexts } from '../../src/texts/pay.ts';
import { languageName, languages, wordsOf } from '../../src/ui/language.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { snap } from '../support/browser/browser.ts';
import { type PayPageFixtures, payPageFixtures } from '../support/browser/pay-page.ts';
import { pageWallet } from '../support/browser/wallet-in-page.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ chains: 2 });
});
after(() => fixtures?.stop());

test('in every language: the page, what the script says, and the news, with nothing sticking out', async () => {
  for (const language of languages) {
    const words = wordsOf(language);
    const { direction } = words;
    const { statusMessage } = payTexts(words);
    const request = await fixtures.request();
    const wallet = pageWallet({ name: 'Violet', chains: [fixtures.node.chain] });
    const { page, says, check, complaints, close } = await fixtures.open(request, {
      wallets: [wallet],
      context: { locale: language },
    });
    assert.equal(await page.locator('html').getAttribute('lang'), language);
    assert.equal(await page.locator('html').getAttribute('dir'), direction);
    await page.getByRole('button', { name: payTexts(words).wallet.payWith.replace('{wallet}', 'Violet') }).click();
    await page.getByRole('alert').waitFor();
    await page.getByText(payTexts(words).paymentMethods.manual).click();
    await check(`language-${language}`);
    await fixtures.pay(request);
    await says(statusMessage.confirming);
    await fixtures.node.mine(2);
    await says(statusMessage.paid);
    await check(`language-${language}-paid`);
    assert.deepEqual(complaints, []);
    await close();
  }
});

test('the language switch changes the page and stays', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request);
  await page.getByRole('link', { name: languageName('de') }).click();
  await page.getByRole('heading', { name: payTexts(wordsOf('de')).paymentMethods.heading }).waitFor();
  await page.goto(page.url().replace(/\?.*/, ''));
  assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  await close();
});

test('a phone without a wallet in its browser → links that open this page in the common wallets', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request, { context: { hasTouch: true, isMobile: true } });
  await page.getByText('Open in your wallet app').click();
  assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 0, 'nobody scans the phone they hold');
  for (const link of await page.locator('.apps .links a').all()) {
    assert.match(
      decodeURIComponent((await link.getAttribute('href')) ?? ''),
      new RegExp(`localhost:3000/pay/${request.id}$`),
    );
  }
  await page.locator('.apps .links').scrollIntoViewIfNeeded();
  await snap(page, 'pay-phone-links');
  await assertAccessible(page);
  await close();
});

test('a reader has texts twice as large → the page follows on a phone, its amount stays whole, and nothing sticks out', async () => {
  const request = await fixtures.request();
  const { page, check, close } = await fixtures.open(request);
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%';
  });
  const amount = page.locator('.amount bdi');
  assert.equal(await page.evaluate(() => getComputedStyle(document.body).fontSize), '32px');
  assert.equal(await amount.evaluate((text) => text.getClientRects().length), 1);
  await check('text-twice-as-large');
  await close();
});
