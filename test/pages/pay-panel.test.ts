import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type PayPageWorld, payPageWorld } from '../support/pay-page.ts';

let world: PayPageWorld;
before(async () => {
  world = await payPageWorld({ testPanel: true });
});
after(() => world?.stop());

test('the test panel pays from the page: too little, then the rest → paid; failed → told; nothing is reloaded', async () => {
  const request = await world.request();
  const { page, check, says, loads, complaints, close } = await world.open(request);
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
