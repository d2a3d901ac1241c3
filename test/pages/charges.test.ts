import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { buildServer } from '../../src/http/server.ts';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { planPageUrl } from '../../src/plans/link.ts';
import { chargesTexts } from '../../src/texts/charges.ts';
import { mandateTexts } from '../../src/texts/mandates.ts';
import { languages, wordsOf } from '../../src/ui/language.ts';
import { assertAccessible } from '../support/browser/axe.ts';
import { openBrowser, photograph, sizes } from '../support/browser/browser.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { makeOnboarded } from '../support/people/merchants.ts';

let of: CollectFixtures;
let browser: Browser;
let app: Awaited<ReturnType<typeof buildServer>>;
let url: string;
let merchant: Awaited<ReturnType<typeof makeOnboarded>>;
before(async () => {
  [of, browser] = await Promise.all([collectFixtures(), openBrowser()]);
  merchant = await makeOnboarded(of.ctx, of.scope);
  app = await buildServer(of.ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  await browser?.close();
  await app?.close();
  await of?.stop();
});

async function openAt(path: string, size: keyof typeof sizes, locale = 'en'): Promise<Page> {
  const context = await browser.newContext({ viewport: sizes[size], hasTouch: size === 'phone', locale });
  const value = await sessionOf(of.ctx, of.scope, merchant);
  await context.addCookies([{ name: 'dashboard-session', value, url, sameSite: 'Lax', httpOnly: true }]);
  const page = await context.newPage();
  await page.goto(url + path);
  return page;
}

const overhang = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

test('A merchant sees in the list and on the plan’s page that a charge failed, why, and when it is tried again; then that it went through', async () => {
  const plan = await of.plan({ name: 'Studio rent', period: 'week', currency: 'EUR' }, { scope: of.scope, merchant });
  const payer = await of.payer(20_000_000n);
  await of.agree(plan, payer, { cap_micro: '20000000' });
  await of.turn();
  await of.forward(7 * dayMs);
  await of.turn();
  const states = (await of.collections(plan)).map(({ state, reason }) => [state, reason]);
  assert.deepEqual(states, [
    ['charged', null],
    ['waiting', 'balance_low'],
  ]);

  const list = await openAt('/dashboard/plans', 'phone');
  await list.getByText('The customer’s wallet holds too little USDC.').waitFor();
  await list.getByText('Next attempt:').waitFor();
  await assertAccessible(list);
  await photograph(list, 'charges-list');
  await list.context().close();

  const page = await openAt(`/dashboard/plans/${plan.id}`, 'phone');
  await page.getByText('Charged', { exact: true }).waitFor();
  await page.getByText('Retrying').waitFor();
  await page.getByText('The customer’s wallet holds too little USDC.').waitFor();
  await assertAccessible(page);
  assert.ok((await overhang(page)) <= 0);
  await photograph(page, 'charges-retrying');
  const csv = await page.evaluate(
    async (path) => (await fetch(path)).text(),
    `/dashboard/plans/${plan.id}/charges.csv`,
  );
  assert.match(csv, /automatic_charge,automatic_charge_reason,next_attempt_at/);
  assert.match(csv, /waiting,balance_low,\d{4}-/);
  for (const language of languages) {
    const t = chargesTexts(wordsOf(language));
    const other = await openAt(`/dashboard/plans/${plan.id}`, 'phone', language);
    await other.getByText(t.theirs.balance_low).waitFor();
    assert.ok((await overhang(other)) <= 0, language);
    await photograph(other, `charges-retrying-${language}`);
    await other.context().close();
  }

  const path = new URL(planPageUrl(of.ctx.config, plan.id)).pathname;
  for (const language of languages) {
    const customers = await openAt(path, 'phone', language);
    await customers.getByText(mandateTexts(wordsOf(language)).page.failed, { exact: true }).waitFor();
    await customers.getByText(chargesTexts(wordsOf(language)).yours.balance_low).waitFor();
    assert.ok((await overhang(customers)) <= 0, language);
    if (language === 'en') {
      await customers.getByText('Next attempt:').waitFor();
      assert.equal(await customers.getByText('keep enough USDC in it').count(), 0);
      await assertAccessible(customers);
    }
    await photograph(customers, `charges-failed-customer-${language}`);
    await customers.context().close();
  }

  await of.node.fund(payer.address, 50_000_000n);
  await of.forward(dayMs + minuteMs);
  await of.collect();
  await page.context().close();
  const later = await openAt(`/dashboard/plans/${plan.id}`, 'phone'); // the session ended in the days between
  await later.getByText('Charged', { exact: true }).nth(1).waitFor();
  assert.equal(await later.getByText('Retrying').count(), 0);
  await later.context().close();
  const fine = await openAt(path, 'phone');
  await fine.getByText('keep enough USDC in it').waitFor();
  assert.equal(await fine.getByText('A charge failed').count(), 0);
  await fine.context().close();
});

test('The plan’s page says what is past due, requested, stopped or paid manually', async () => {
  const plan = await of.plan({ name: 'Piano lessons', currency: 'EUR' }, { scope: of.scope, merchant });
  const payer = await of.payer(0n);
  await of.agree(plan, payer, { cap_micro: '20000000' });
  await of.turn();
  for (const step of [1, 2, 2, 2]) {
    await of.forward(step * dayMs + minuteMs);
    await of.collect();
  }
  const page = await openAt(`/dashboard/plans/${plan.id}`, 'desktop');
  await page.getByText('Past due').waitFor();
  const customers = await openAt(new URL(planPageUrl(of.ctx.config, plan.id)).pathname, 'phone');
  await customers.getByText('Your wallet holds too little USDC.').waitFor();
  assert.equal(await customers.getByText('Next attempt:').count(), 0);
  await customers.context().close();
  await assertAccessible(page);
  await photograph(page, 'charges-past-due');
  for (const [state, reason, said] of [
    ['asked', 'above_cap', 'Payment requested'],
    ['stopped', 'plan_paused', 'The plan was paused.'],
    ['paid', null, 'Paid by link'],
  ] as const) {
    await of.db.sql`
      update collections set state = ${state}, reason = ${reason}, reason_at = ${reason && new Date()}
      where plan_id = ${plan.id}`;
    await page.reload();
    await page.getByText(said).waitFor();
  }
  await page.context().close();
});
