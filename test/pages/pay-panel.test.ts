import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayPageFixtures, payPageFixtures, statusMessageOf } from '../support/browser/pay-page.ts';
import { until } from '../support/until.ts';

let fixtures: PayPageFixtures;
before(async () => {
  fixtures = await payPageFixtures({ testPanel: true });
});
after(() => fixtures?.stop());

test('the test panel pays from the page: too little, then the rest → paid; failed → the page says so; nothing is reloaded', async () => {
  const request = await fixtures.request();
  const { page, check, says, loads, complaints, close } = await fixtures.open(request);
  await page.getByRole('button', { name: 'Too little' }).waitFor();
  await check('test-panel');
  await page.locator('button[value="failed"]').click();
  await says('Your transaction failed');
  await check('failed');
  await page.getByRole('button', { name: 'Too little' }).click();
  await says('is missing');
  await page.locator('button[value="rest"]').click();
  await says('Paid');
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  await close();
});

test('another token, and a payment that a reorganisation removes → the open page says each', async () => {
  const outcomes: [outcome: string, words: string][] = [
    ['wrong_token', 'A token named USDC arrived, but it is a different token'],
    ['reorganised', 'The network reversed the payment'],
  ];
  for (const [outcome, words] of outcomes) {
    const request = await fixtures.request();
    const { page, says, check, complaints, close } = await fixtures.open(request);
    const answered = page.waitForResponse((response) => response.url().endsWith('/test'));
    await page.locator(`button[value="${outcome}"]`).click();
    // The page looks for another token only every few seconds. Until then it says that the payment was sent.
    if (outcome === 'wrong_token') assert.match(await (await answered).text(), /It does not count for this request/);
    await says(words);
    await check(outcome.replace('_', '-'));
    assert.deepEqual(complaints, []);
    await close();
  }
});

test('a pending payment → the open page says so', async () => {
  // It waits for some seconds only. A busy machine can need them to show it: then the next one is looked at.
  await until(async () => {
    const { page, says, check, complaints, close } = await fixtures.open(await fixtures.request());
    await page.locator('button[value="pending"]').click();
    await says(/Payment seen|confirmation|Paid/);
    const isSeen = (await statusMessageOf(page).filter({ hasText: 'Payment seen' }).count()) > 0;
    if (isSeen) await check('pending');
    assert.deepEqual(complaints, []);
    await close();
    return isSeen;
  }, 'a payment is shown while it waits');
});

test('without script, after a test payment → the page renews itself at its own address, not at the form’s', async () => {
  const request = await fixtures.request();
  const { page, close } = await fixtures.open(request, { context: { javaScriptEnabled: false } });
  await page.locator('button[value="pending"]').click();
  await page.waitForURL(/\/test$/);
  const refresh = page.locator('noscript meta[http-equiv="refresh"]');
  assert.equal(await refresh.getAttribute('content'), `20;url=/pay/${request.id}`);
  await close();
});
