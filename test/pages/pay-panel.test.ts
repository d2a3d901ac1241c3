import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertAccessible } from '../support/axe.ts';
import { photograph } from '../support/browser.ts';
import { type PayPageWorld, payPageWorld } from '../support/pay-page.ts';

let world: PayPageWorld;
before(async () => {
  world = await payPageWorld({ testPanel: true });
});
after(() => world?.stop());

test('the test panel pays from the page: too little, then the rest → paid; failed → told; nothing is reloaded', async () => {
  const request = await world.request();
  const { page, says, loads, complaints, close } = await world.open(request);
  await page.getByRole('button', { name: 'Too little' }).waitFor();
  await photograph(page, 'pay-test-panel');
  await assertAccessible(page);
  await page
    .getByRole('button', { name: 'Fails' })
    .or(page.getByRole('button', { name: /fail/i }))
    .first()
    .click();
  await says('Your transaction failed');
  await photograph(page, 'pay-failed');
  await page.getByRole('button', { name: 'Too little' }).click();
  await says('is missing');
  await page.locator('button[value="rest"]').click();
  await says('Paid');
  assert.equal(loads(), 1);
  assert.deepEqual(complaints, []);
  await close();
});
