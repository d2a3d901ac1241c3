import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';

let fixtures: AgreeFixtures;
before(async () => {
  fixtures = await agreeFixtures();
});
after(() => fixtures?.stop());

test('A customer signs the terms and an allowance without a fee → charged on the date, and the page shows both', async () => {
  const plan = await fixtures.plan();
  const before = await fixtures.open(plan);
  assert.equal(before.status, 200);
  for (const text of ['Agree to automatic charges', '12.01 USDC', '168.14 USDC', 'Piano lessons', 'How to stop']) {
    assert.ok(before.html.includes(text), text);
  }
  const payer = await fixtures.payer(500_000_000n);
  const { step, answer } = await fixtures.agreeByPage(plan, payer);
  assert.equal(step.step, 'permit');
  assert.equal(step.value, String(12_010_000n * 12n));
  assert.deepEqual(answer, { status: 200, done: 'agreed' });
  const mandate = await fixtures.mandateOf(plan);
  assert.deepEqual([mandate.state, mandate.payer, mandate.allowed_charges], ['active', payer.address, 12]);
  await fixtures.turn();
  assert.equal(await fixtures.balance(payer.address), 488_000_000n);
  const page = await fixtures.open(plan);
  for (const text of ['Charged automatically', 'Stop automatic charges', 'Receipt', payer.address]) {
    assert.ok(page.html.includes(text), text);
  }
});
