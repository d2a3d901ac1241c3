import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import type { Hex } from '../../src/chain/rpc.ts';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { dayOf } from '../../src/lib/time.ts';
import { readPlanChange } from '../../src/plans/form.ts';
import { stepAfterSigning } from '../../src/plans/mandates/agree.ts';
import { readPlanFacts } from '../../src/plans/mandates/facts.ts';
import { setRate } from '../support/fixtures.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';

let of: AgreeFixtures;
before(async () => {
  of = await agreeFixtures();
});
after(() => of?.stop());
/** Starts the limits per client and minute again. Plans of other tests are charged no more. */
beforeEach(async () => {
  await of.forward(2 * minuteMs);
  await of.db
    .sql`update plans set state = 'ended', ended_at = now(), next_on = null, due_at = null where state <> 'ended'`;
});

const inDays = (days: number) => dayOf(new Date(of.clock.now().getTime() + days * dayMs));
const statesOf = async (plan: { id: string }) =>
  (await of.collections(plan)).map(({ state, reason }) => [state, reason]);

async function allowanceOf(payer: { address: Hex }): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [payer.address, of.contract] });
  return BigInt((await of.rpc('eth_call', [{ to: of.token, data }, 'latest'])) as string);
}

/** Makes what is due, and waits until the chain has decided. */
async function turn(): Promise<void> {
  await of.turn();
  await of.forward(2 * minuteMs);
  await of.collect();
}

test('One charge was allowed, and the wallet has another plan → a second one is not taken from the other plan’s allowance', async () => {
  const one = await of.plan({ firstOn: inDays(1) });
  const other = await of.plan({ firstOn: inDays(40), fiatInt: 1300 });
  const payer = await of.payer(500_000_000n);
  assert.equal((await of.agreeByPage(one, payer, '1')).answer.done, 'agreed');
  assert.equal((await of.agreeByPage(other, payer, '12')).answer.done, 'agreed');
  await of.forward(dayMs);
  await turn();
  assert.deepEqual(await statesOf(one), [['charged', null]]);
  await of.forward(31 * dayMs);
  await turn();
  assert.deepEqual(await statesOf(one), [
    ['charged', null],
    ['waiting', 'allowance_low'],
  ]);
  assert.ok((await allowanceOf(payer)) >= 12n * 13_010_000n, 'what the other plan was allowed is untouched');
  // Allowing more for the one plan asks for what both may still take, and lets the waiting charge through.
  const signed = await of.signRaise(one, payer, '2');
  const step = await of.post(one, 'raise-step', signed);
  assert.equal(step.value, String(2n * 12_010_000n + 12n * 13_010_000n));
  assert.equal((await of.post(one, 'raise', { ...signed, ...(await of.permit(payer, step)) })).done, 'raised');
  assert.equal((await of.mandateOf(one)).allowed_charges, 3, 'beside the one that was taken');
  await of.forward(2 * dayMs);
  await turn();
  assert.deepEqual(await statesOf(one), [
    ['charged', null],
    ['charged', null],
  ]);
});

test('More is allowed by a permit while the earlier allowance still suffices → it counts, long after the permit has ended', async () => {
  const plan = await of.plan({ firstOn: inDays(1) });
  const payer = await of.payer(500_000_000n);
  assert.equal((await of.agreeByPage(plan, payer, '3')).answer.done, 'agreed');
  await of.forward(dayMs);
  await turn();
  const signed = await of.signRaise(plan, payer, '24');
  const step = await of.post(plan, 'raise-step', signed);
  assert.equal(step.step, 'permit');
  assert.equal((await of.post(plan, 'raise', { ...signed, ...(await of.permit(payer, step)) })).done, 'raised');
  for (let month = 0; month < 4; month++) {
    await of.forward(31 * dayMs);
    await turn();
  }
  assert.deepEqual(await statesOf(plan), Array(5).fill(['charged', null]));
});

test('A plan in dollars, and the token moves against the dollar as it does every day → charged, nobody agrees again', async () => {
  const typed = readPlanChange({ amount: '250', collect: 'automatic' }, 'USD');
  assert.ok('change' in typed);
  const plan = await of.plan({ firstOn: inDays(1), ...typed.change });
  const payer = await of.payer(500_000_000n);
  await setRate(of.db, 'USD', '1.0002');
  assert.equal((await of.agreeByPage(plan, payer)).answer.done, 'agreed');
  await setRate(of.db, 'USD', '0.9997');
  await of.forward(dayMs);
  await turn();
  await setRate(of.db, 'USD', '1');
  assert.deepEqual(await statesOf(plan), [['charged', null]]);
  assert.equal((await of.mandateOf(plan)).state, 'active');
});

test('A charge that was made and could not be collected yet → allowances still cover it', async () => {
  const [last, middle] = [await of.plan({ maxCharges: 1 }), await of.plan({ maxCharges: 3, fiatInt: 1300 })];
  const [payer, other] = [await of.payer(0n), await of.payer(0n)];
  for (const [plan, by] of [
    [last, payer],
    [middle, other],
  ] as const)
    assert.equal((await of.agreeByPage(plan, by, '1')).answer.done, 'agreed');
  await turn();
  for (const plan of [last, middle]) assert.deepEqual(await statesOf(plan), [['waiting', 'balance_low']]);
  const second = await of.plan({ firstOn: inDays(9), fiatInt: 20_000 });
  const agreed = await of.agreeByPage(second, payer, '2');
  assert.equal(agreed.step.value, String(2n * 200_010_000n + 12_010_000n));
  // Whoever agrees again may have all three collected.
  assert.match((await of.open(middle)).html, /<option value="3" selected>/);
});

test('More signed terms than may be checked of a merchant in ten seconds → no chain is asked; of another merchant, and later, it is', async () => {
  const { ctx, scope } = of;
  const { merchant } = await of.merchantIn('USD');
  const payer = await of.payer(1n);
  const start = of.clock.now().getTime() + 60_000;
  const stepsOf = async (plan: Awaited<ReturnType<typeof of.plan>>, times: number, afterMs = 0) => {
    const facts = await readPlanFacts(ctx, scope, plan.id);
    assert.ok(facts);
    const { signed } = await of.sign(plan, payer);
    const then = { ...ctx, clock: { now: () => new Date(start - (start % 10_000) + afterMs) } };
    let checked = 0;
    // One after the other, so that each has an answer of the chain in time.
    for (let i = 0; i < times; i++) if ('kind' in (await stepAfterSigning(then, { scope, facts }, signed))) checked++;
    return checked;
  };
  const [one, other] = [await of.plan(), await of.plan({}, { scope, merchant })];
  assert.equal(await stepsOf(one, 60), 50);
  assert.equal(await stepsOf(other, 5), 5);
  assert.equal(await stepsOf(one, 1), 0);
  assert.equal(await stepsOf(one, 1, 10_000), 1);
});
