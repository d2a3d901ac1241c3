import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { Mandate } from '../../src/chain/recurring/mandate.ts';
import { asDone, kindOf, randomWord, recurringStage, type Stage } from '../support/chain/recurring.ts';

let stage: Stage;
before(async () => {
  stage = await recurringStage();
});
after(() => stage?.stop());

async function signed(change: Partial<Mandate>) {
  const payer = await stage.payer();
  const mandate = await stage.makeMandate(payer.address, change);
  const signature = await stage.sign(payer, mandate);
  /** Charges at a second; a word says how it went. */
  return async (at: number, amount = 1n) => kindOf(await stage.charge(mandate, signature, amount, { at }));
}

test('start › a second before it → not started; in its second, and after it → charged', async () => {
  const startsAt = (await stage.now()) + 1_000;
  const charge = await signed({ startsAt, minIntervalSeconds: 0 });
  assert.equal(await charge(startsAt - 1), 'not_started');
  assert.equal(await charge(startsAt), 'done');
  assert.equal(await charge(startsAt + 1), 'done');
});

test('end › a second before it → charged; in its second, and after it → ended', async () => {
  const endsAt = (await stage.now()) + 1_000;
  const charge = await signed({ endsAt, minIntervalSeconds: 0 });
  assert.equal(await charge(endsAt - 1), 'done');
  assert.equal(await charge(endsAt), 'ended');
  assert.equal(await charge(endsAt + 1), 'ended');
});

test('interval › a second before it is over → too soon, with the second from which on; in that second → charged', async () => {
  const first = (await stage.now()) + 1_000;
  const interval = 30 * 86_400;
  const charge = await signed({ minIntervalSeconds: interval });
  assert.equal(await charge(first), 'done');
  assert.equal(await charge(first + 1), `too_soon ${first + interval}`);
  assert.equal(await charge(first + interval - 1), `too_soon ${first + interval}`);
  assert.equal(await charge(first + interval), 'done');
  const second = first + interval;
  assert.equal(await charge(second + interval - 1), `too_soon ${second + interval}`);
  assert.equal(await charge(second + interval + 1), 'done');
});

test('interval › it counts from the latest charge, not from dates: a late one moves the next', async () => {
  const first = (await stage.now()) + 1_000;
  const charge = await signed({ minIntervalSeconds: 100 });
  assert.equal(await charge(first), 'done');
  assert.equal(await charge(first + 190), 'done');
  assert.equal(await charge(first + 200), `too_soon ${first + 290}`);
});

test('two calendar months that lie 28 days apart → both are charged, which a window of 30 days would refuse', async () => {
  const year = new Date((await stage.now()) * 1000).getUTCFullYear() + 1;
  const days = [31, 28 + (new Date(Date.UTC(year, 1, 29)).getUTCMonth() === 1 ? 1 : 0), 31];
  const dates = days.map((day, month) => Date.UTC(year, month, day) / 1000);
  const charge = await signed({ minIntervalSeconds: 27 * 86_400, endsAt: (dates[2] as number) + 1 });
  for (const date of dates) assert.equal(await charge(date), 'done');
});

test('amount › zero and more than the cap → refused; one unit, and the cap itself → charged', async () => {
  const charge = await signed({ minIntervalSeconds: 0, maxAmount: 20_000_000n });
  const at = (await stage.now()) + 10;
  assert.equal(await charge(at, 0n), 'amount');
  assert.equal(await charge(at + 1, 20_000_001n), 'amount');
  assert.equal(await charge(at + 2, 2n ** 256n - 1n), 'amount');
  assert.equal(await charge(at + 3, 1n), 'done');
  assert.equal(await charge(at + 4, 20_000_000n), 'done');
});

test('the largest times and amounts → no overflow', async () => {
  const at = (await stage.now()) + 10;
  const most = 2 ** 63;
  const charge = await signed({ minIntervalSeconds: most, endsAt: most, maxAmount: 2n ** 256n - 1n });
  assert.equal(await charge(at, 2n ** 256n - 1n), 'allowance');
  assert.equal(await charge(at + 1), 'done');
  assert.equal(await charge(at + 2), `too_soon ${at + 1 + most}`);
});

test('a mandate that ends before it starts is never charged', async () => {
  const time = (await stage.now()) + 1_000;
  const charge = await signed({ startsAt: time, endsAt: time });
  assert.equal(await charge(time - 1), 'not_started');
  assert.equal(await charge(time), 'ended');
});

/** What a mandate allows, written as simply as possible. */
function judge(mandate: Mandate, past: { at: number; reference: string }[], next: Attempt & { at: number }): string {
  const { at, amount, reference } = next;
  if (at < mandate.startsAt) return 'not_started';
  if (at >= mandate.endsAt) return 'ended';
  if (amount < 1n || amount > mandate.maxAmount) return 'amount';
  if (past.some((charge) => charge.reference === reference)) return 'reference_used';
  const allowedAt = (past.at(-1)?.at ?? Number.NEGATIVE_INFINITY) + mandate.minIntervalSeconds;
  return at < allowedAt ? `too_soon ${allowedAt}` : 'done';
}

type Attempt = { waitSeconds: number; amount: bigint; reference: string };

/** Waits and amounts near the edges are as likely as all others together. */
const terms = fc.record({
  maxAmount: fc.bigInt({ min: 0n, max: 1_000n }),
  minIntervalSeconds: fc.integer({ min: 0, max: 40 }),
  startsIn: fc.integer({ min: -20, max: 60 }),
  lasts: fc.integer({ min: 0, max: 400 }),
});
const attempts = fc.array(
  fc.record({
    waitSeconds: fc.integer({ min: 1, max: 45 }),
    amount: fc.oneof(fc.bigInt({ min: 0n, max: 1_010n }), fc.constantFrom(0n, 1n, 999n, 1_000n, 1_001n)),
    reference: fc.constantFrom(...Array.from({ length: 5 }, randomWord)),
  }),
  { minLength: 1, maxLength: 12 },
);

test('any terms, times, amounts and references → as the terms say, and never more than the cap in an interval', async () => {
  const payer = await stage.payer(10n ** 15n);
  const executor = await stage.executor();
  const property = fc.asyncProperty(terms, attempts, async ({ startsIn, lasts, ...rest }, tries) => {
    let at = await stage.now();
    const startsAt = at + startsIn;
    const mandate = await stage.makeMandate(payer.address, { ...rest, executor, startsAt, endsAt: startsAt + lasts });
    const signature = await stage.sign(payer, mandate);
    const past: { at: number; reference: string }[] = [];
    let paid = 0n;
    for (const attempt of tries) {
      at += attempt.waitSeconds;
      const { amount, reference } = attempt;
      const expected = judge(mandate, past, { ...attempt, at });
      const outcome = await stage.charge(mandate, signature, amount, { reference: reference as `0x${string}`, at });
      assert.equal(kindOf(outcome), expected);
      if (expected !== 'done') continue;
      assert.equal(asDone(outcome).charged[0]?.amount, amount);
      past.push({ at, reference });
      paid += amount;
    }
    assert.equal(await stage.balanceOf(mandate.payee), paid);
  });
  await fc.assert(property, { numRuns: 60 });
});
