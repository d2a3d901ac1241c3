import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { encodeFunctionData, erc20Abi } from 'viem';
import type { Hex } from '../../src/chain/rpc.ts';
import { dayMs, minuteMs } from '../../src/lib/durations.ts';
import { dayOf } from '../../src/lib/time.ts';
import { endOutdated } from '../../src/plans/mandates/outdated.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';

let of: AgreeFixtures;
before(async () => {
  of = await agreeFixtures();
});
after(() => of?.stop());
/** Starts the limits per client and minute again. */
beforeEach(() => of.forward(2 * minuteMs));

const inDays = (days: number) => dayOf(new Date(of.clock.now().getTime() + days * dayMs));
const statesOf = async (plan: { id: string }) =>
  (await of.collections(plan)).map(({ state, reason }) => [state, reason]);
const askedBy = async (plan: { id: string }) => BigInt((await of.requests(plan))[0]?.usdc_micro ?? 0);

async function allowanceOf(payer: { address: Hex }): Promise<bigint> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [payer.address, of.contract] });
  return BigInt((await of.rpc('eth_call', [{ to: of.token, data }, 'latest'])) as string);
}

test('A second plan is approved by a transaction → the first plan’s unused permit does not take that back', async () => {
  const first = await of.plan({ firstOn: inDays(1) });
  const second = await of.plan({ firstOn: inDays(1), fiatInt: 20_000 });
  const payer = await of.payer(5_000_000_000n);
  assert.equal((await of.agreeByPage(first, payer)).answer.done, 'agreed');
  const { signed } = await of.sign(second, payer);
  const step = await of.post(second, 'allowance', signed);
  const together = (12_010_000n + 200_010_000n) * 12n;
  assert.equal(step.value, String(together));
  await of.approve(payer, together);
  assert.equal((await of.post(second, 'agree', signed)).done, 'agreed');
  await of.forward(dayMs);
  await of.turn();
  // One wallet's charges are sent one after the other.
  await of.forward(2 * minuteMs);
  await of.collect();
  assert.deepEqual([await statesOf(first), await statesOf(second)], [[['charged', null]], [['charged', null]]]);
  assert.equal(await allowanceOf(payer), together - (await askedBy(first)) - (await askedBy(second)));
});

test('An allowance is raised by a transaction → an earlier permit for less is used no more', async () => {
  const plan = await of.plan({ firstOn: inDays(1) });
  const payer = await of.payer(500_000_000n);
  await of.agreeByPage(plan, payer, '1');
  const signed = await of.signRaise(plan, payer, '24');
  const step = await of.post(plan, 'raise-step', signed);
  await of.approve(payer, BigInt(String(step.value)));
  assert.equal((await of.post(plan, 'raise', signed)).done, 'raised');
  await of.forward(dayMs);
  await of.turn();
  assert.deepEqual(await statesOf(plan), [['charged', null]]);
  assert.equal(await allowanceOf(payer), 12_010_000n * 24n - (await askedBy(plan)));
});

test('A charge that waits from before asks for the earlier wallet → it is asked by link, and the new agreement stays', async () => {
  const plan = await of.plan();
  const payer = await of.payer(0n);
  await of.agreeByPage(plan, payer);
  await of.turn();
  assert.deepEqual(await statesOf(plan), [['waiting', 'balance_low']]);
  await of.db.sql`update merchants set wallet_address = ${`0x${'ab'.repeat(20)}`} where id = ${plan.account_id}`;
  await endOutdated(of.ctx, new AbortController().signal);
  assert.equal((await of.agreeByPage(plan, payer)).answer.done, 'agreed');
  await of.db.sql`delete from mails`;
  await of.forward(dayMs);
  await of.turn();
  assert.deepEqual(await statesOf(plan), [['asked', 'wallet_changed']]);
  assert.deepEqual(
    (await of.mandatesOf(plan)).map(({ state, end_reason }) => [state, end_reason]),
    [
      ['ended', 'wallet_changed'],
      ['active', null],
    ],
  );
  const [mail, ...others] = await of.mails();
  assert.deepEqual([mail?.subject, others], ['Test: Please pay $12.00 to Ada’s Bakery', []]);
  assert.ok(mail?.body.includes('The new agreement does not cover this earlier payment.'));
});

test('Somebody agrees again and again → ten times a day at most, so that the relayer pays for few revocations', async () => {
  const plan = await of.plan({ firstOn: inDays(9) });
  const payer = await of.payer(0n);
  const answers: unknown[] = [];
  for (let times = 0; times < 11; times++) answers.push((await of.agreeByPage(plan, payer, 'limitless')).answer);
  assert.deepEqual(answers.at(9), { status: 200, done: 'agreed' });
  assert.deepEqual(answers.at(10), { status: 409, fault: 'too_often' });
  const mandates = await of.mandatesOf(plan);
  const states = mandates.map(({ state }) => state);
  assert.deepEqual(states, [...Array(9).fill('replaced'), 'active'], 'the last one is still in use');
  const toRevoke = mandates.map(({ revoke_due_at }) => revoke_due_at !== null);
  assert.deepEqual(toRevoke, [...Array(9).fill(true), false], 'all others are to be revoked on the chain');
  await of.forward(dayMs);
  assert.equal((await of.agreeByPage(plan, payer, 'limitless')).answer.done, 'agreed');
});
