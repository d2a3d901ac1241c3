import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { theService } from '../../src/audit/write.ts';
import type { Scope } from '../../src/db/connection.ts';
import { latestMail } from '../../src/mail/outbox.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { terms, termsIn } from '../../src/onboarding/terms.ts';
import { commonTexts } from '../../src/texts/common.ts';
import { mailTexts } from '../../src/texts/mails.ts';
import { onboardingTexts } from '../../src/texts/onboarding.ts';
import { payTexts } from '../../src/texts/pay.ts';
import { receiptTexts } from '../../src/texts/receipts.ts';
import { signInTexts } from '../../src/texts/sign-in.ts';
import { walletTexts } from '../../src/texts/wallets.ts';
import { fill, type Language, languageName, languages, type Words, wordsOf } from '../../src/ui/language.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp } from '../support/app.ts';
import { openBrowser, photograph, sizes, snap } from '../support/browser/browser.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { makeOnboarded, newAccount } from '../support/people/merchants.ts';
import { newEmail } from '../support/people/people.ts';
import { startVisitor } from '../support/people/visitor.ts';

let app: Awaited<ReturnType<typeof startApp>>;
let browser: Browser;
let payPath: string;
let onboardPath: string;
let signPath: string;
let mailPaths: Map<Language, string>;

before(async () => {
  [app, browser] = await Promise.all([startApp(), openBrowser()]);
  for (const chain of app.ctx.chains.test) chain.name = 'Base Sandbox';
  const { test: scope } = await makePartner(app.db);
  const row = await makeRequest(app.db, scope, await makeMerchant(app.db, scope), {
    memo: 'Two loaves of rye and a birthday cake',
    fiatInt: 1_234_567,
    exactMicro: 13_419_206_522n,
    expiryMinutes: 60,
  });
  payPath = `/pay/${row.id}`;
  const shell = await createShell(app.ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: 'Ada’s Bakery',
  });
  onboardPath = new URL(onboardingUrl(app.ctx.config, shell, app.ctx.clock.now())).pathname;
  signPath = await atSigning(scope);
  mailPaths = await mailsIn(scope);
});
after(async () => {
  await browser.close();
  await app.stop();
});

/** The onboarding of a merchant that has chosen its wallet. It still has to sign and to accept the terms. */
async function atSigning(scope: Scope): Promise<string> {
  const shell = await createShell(app.ctx, theService, scope, { display_currency: 'EUR' });
  const path = new URL(onboardingUrl(app.ctx.config, shell, app.ctx.clock.now())).pathname;
  const visitor = startVisitor(app.url);
  const wallet = await visitor.send(await visitor.open(path), '/details');
  await visitor.send(wallet, '/wallet', { wallet_address: newAccount().address });
  return path;
}

/** The mail with the longest texts in each language. */
async function mailsIn(scope: Scope): Promise<Map<Language, string>> {
  const paths = new Map<Language, string>();
  for (const language of languages) {
    const email = newEmail();
    const merchant = await makeOnboarded(app.ctx, scope, { email });
    await app.db.sql`update merchants set language = ${language} where id = ${merchant.id}`;
    await startRecovery(app.ctx, theService, scope, merchant.id);
    paths.set(language, `/dev/mail/${(await latestMail(app.db.sql, email))?.id}`);
  }
  return paths;
}

/** A phone's browser set to a language. */
async function browserIn(locale: string): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: sizes.phone, locale });
  return context;
}

const languageOf = (page: Page) => page.locator('html').getAttribute('lang');
const says = (page: Page, text: string) => page.getByText(text).first().waitFor();

/** Asserts that nothing overflows a phone's width on either side. */
async function assertNarrow(page: Page): Promise<void> {
  const edges = await page.locator('body *:visible').evaluateAll((all) => {
    const boxes = all.map((one) => one.getBoundingClientRect()).filter(({ width }) => width > 1);
    return [Math.min(...boxes.map(({ left }) => left)), Math.max(...boxes.map(({ right }) => right))];
  });
  const [left = Number.NaN, right = Number.NaN] = edges;
  assert.ok(left >= -1 && right <= sizes.phone.width + 1, `${page.url()} reaches from ${left} to ${right}`);
}

for (const language of languages) {
  const words = wordsOf(language);
  const { direction } = words;

  test(`${language}: a browser that asks for it gets each page in it, and no page is wider than a phone`, async () => {
    const context = await browserIn(language);
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('pageerror', (error) => complaints.push(String(error)));
    const pages: [path: string, text: string, picture?: string][] = [
      [payPath, payTexts(words).paymentMethods.heading, 'pay'],
      [onboardPath, fill(onboardingTexts(words).onboard.invites, { partner: 'Corner Shops Ltd' }), 'onboard'],
      [`${payPath}/receipt`, receiptTexts(words).receipt.notPaid],
      ['/dashboard/sign-in', signInTexts(words).signIn.heading],
      ['/onboard/nothing', walletTexts(words).refusals.link_unknown.title],
      ['/pay/nothing', commonTexts(words).errors.notFound],
    ];
    for (const [path, text, picture] of pages) {
      await page.goto(app.url + path);
      await says(page, text);
      assert.equal(await languageOf(page), language);
      assert.equal(await page.locator('html').getAttribute('dir'), direction);
      await page.locator('details').evaluateAll((all) => {
        for (const one of all) (one as HTMLDetailsElement).open = true;
      });
      await assertNarrow(page);
      if (picture) await photograph(page, `lang-${language}-${picture}`);
    }
    assert.deepEqual(complaints, []);
    await context.close();
  });

  test(`${language}: the terms are translated beside the English text that binds, and the box is under both`, async () => {
    const context = await browserIn(language);
    const page = await context.newPage();
    await page.goto(app.url + signPath);
    await page
      .locator('summary', { hasText: fill(onboardingTexts(words).onboard.terms, { version: terms.version }) })
      .click();
    const boxes = page.locator('.terms');
    const shown = await boxes.evaluateAll((all) =>
      all.map((one) => [one.closest('[lang]')?.getAttribute('lang'), one.textContent]),
    );
    const textOf = (inWords: Words) =>
      termsIn(inWords)
        .map(({ title, text }) => title + text)
        .join('');
    const binding = ['en', textOf(wordsOf('en'))];
    assert.deepEqual(shown, language === 'en' ? [binding] : [[language, textOf(wordsOf(language))], binding]);
    if (language !== 'en') await says(page, onboardingTexts(words).onboard.termsTranslated);
    await assertNarrow(page);
    await snap(page, `lang-${language}-terms`, true);
    await context.close();
  });

  test(`${language}: a mail is written in it, no wider than a phone`, async () => {
    const context = await browserIn(language);
    const page = await context.newPage();
    await page.goto(app.url + (mailPaths.get(language) ?? ''));
    await says(page, fill(mailTexts(words).wallet.recovery_started.subject, { merchant: 'Ada’s Bakery' }));
    assert.equal(await page.getByRole('link').first().textContent(), mailTexts(words).wallet.stop);
    assert.equal(await page.locator('html').getAttribute('dir'), direction);
    await assertNarrow(page);
    await snap(page, `mail-${language}-phone`, true);
    await context.close();
  });

  test(`${language}: amounts and times are written as its readers write them, by the server and by the browser`, async () => {
    const context = await browserIn(language);
    const page = await context.newPage();
    await page.goto(app.url + payPath);
    const amount = new Intl.NumberFormat(language, { style: 'currency', currency: 'EUR' }).format(12_345.67);
    assert.equal(await page.locator('.amount').textContent(), amount);
    const coin = new Intl.NumberFormat(`${language}-u-nu-latn`, { minimumFractionDigits: 6 }).format(13_419.206522);
    const due = (await page.locator('.coin').textContent()) ?? '';
    assert.ok(due.includes(`${coin}\u00a0USDC`), due);
    const minutes = (count: number) =>
      new Intl.NumberFormat(language, { style: 'unit', unit: 'minute', unitDisplay: 'long' }).format(count);
    const left = Array.from({ length: 60 }, (_, i) => fill(payTexts(words).pay.left, { time: minutes(i + 1) }));
    // Once times appear without UTC, the browser's script has taken over.
    await page.locator('.countdown time').filter({ hasNotText: 'UTC' }).waitFor();
    const said = (await page.locator('[data-left]').textContent()) ?? '';
    assert.ok(left.includes(said), `“${said}” is not like “${left[58]}”`);
    await context.close();
  });
}

test('The switch changes the language, and the next pages keep it', async () => {
  const context = await browserIn('en-GB');
  const page = await context.newPage();
  await page.goto(app.url + payPath);
  for (const language of [...languages.slice(1), 'en' as const]) {
    await page.getByRole('link', { name: languageName(language), exact: true }).click();
    await says(page, payTexts(wordsOf(language)).paymentMethods.heading);
    assert.equal(await languageOf(page), language);
    assert.equal(await page.locator('.languages [aria-current]').textContent(), languageName(language));
    await page.goto(`${app.url}/dashboard/sign-in`);
    await says(page, signInTexts(wordsOf(language)).signIn.heading);
    assert.equal(await languageOf(page), language, 'kept');
    await page.goto(app.url + payPath);
    assert.equal(await languageOf(page), language, 'kept');
  }
  await page.goto(`${app.url}/pay/nothing`);
  await page.getByRole('link', { name: 'Français', exact: true }).click();
  await says(page, commonTexts(wordsOf('fr')).errors.notFound);
  assert.equal(new URL(page.url()).pathname, '/pay/nothing', 'an error page has the switch, too');
  await context.close();
});
