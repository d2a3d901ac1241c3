import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import type { Hex } from '../../src/chain/rpc.ts';
import { dayMs } from '../../src/lib/durations.ts';
import type { PlanRow } from '../../src/plans/read.ts';
import { startOf } from '../../src/plans/rules.ts';
import { collectFixtures } from '../support/payments/collect-fixtures.ts';
import { runUntilKilled } from '../support/payments/killed-process.ts';
import {
  chargedOnChain,
  comingYear,
  datesUntil,
  forgetHolds,
  letRequestsLast,
  moveTo,
  nextMoment,
  standingClock,
} from '../support/payments/moved-time.ts';
import { planOf } from '../support/plans.ts';
import { randomFrom } from '../support/random.ts';

const seed = Number(process.env.YEAR_SEED ?? randomInt(2 ** 31));
const firstDay = `${comingYear}-01-31`;
/** No plan has a date on it, in a leap year neither. */
const lastDay = `${comingYear + 1}-01-28`;
/** The most steps that one run of the loops takes with a handful of due charges. */
const maxSteps = 160;

test(`A year of monthly, weekly and month-end plans, with kills between any two steps → each date is charged exactly once`, {
  timeout: 900_000,
}, async (t) => {
  t.diagnostic(`YEAR_SEED=${seed}`);
  const random = randomFrom(seed);
  const clock = standingClock(new Date(startOf(firstDay).getTime() - 1000));
  const of = await collectFixtures({ clock });
  const tellClock = await letRequestsLast(of);
  const balances = new Map<string, bigint>();
  try {
    await moveTo(of, clock.now(), tellClock);
    const plans: { plan: PlanRow; payer: { address: Hex }; late: boolean }[] = [];
    for (const [details, late] of [
      [{ firstOn: `${comingYear}-02-15` }, false],
      [{ firstOn: `${comingYear}-02-01`, period: 'week' }, false],
      [{ firstOn: firstDay }, false],
      [{ firstOn: `${comingYear}-02-03` }, true],
    ] as const) {
      const plan = await of.plan({ ...details, fiatInt: 1200 + plans.length });
      const payer = await of.payer(late ? 0n : 10_000_000_000n);
      const { cap_micro } = await of.agree(plan, payer, { permitMicro: 0n + 60n * 20_000_000n, allowed_charges: null });
      assert.ok(BigInt(cap_micro) < 20_000_000n);
      plans.push({ plan, payer, late });
      balances.set(payer.address, late ? 0n : 10_000_000_000n);
    }
    const poor = plans.find(({ late }) => late);
    let deaths = 0;
    let lives = 0;
    const turn = async (steps: number | null) => {
      await forgetHolds(of);
      lives++;
      if (await runUntilKilled(of.ctx, of.access, steps)) deaths++;
      await of.node.mine(2);
      await of.caughtUp();
      clock.forward(90_000);
    };
    for (let at = await nextMoment(of); at && at < startOf(lastDay); at = await nextMoment(of)) {
      if (at > clock.now()) await moveTo(of, at, tellClock);
      // Three days after its date somebody gives the poor wallet what it needs.
      const [owes] = await of.db.sql`
        select from collections where plan_id = ${poor?.plan.id ?? null} and state = 'waiting'
          and failing_since <= ${new Date(clock.now().getTime() - 2.5 * dayMs)}`;
      if (owes && poor && (await of.balance(poor.payer.address)) < 13_000_000n) {
        await of.node.fund(poor.payer.address, 13_000_000n);
        balances.set(poor.payer.address, (balances.get(poor.payer.address) ?? 0n) + 13_000_000n);
      }
      if (random() < 0.6) await turn(Math.floor(random() * maxSteps));
      await turn(null);
    }
    for (let i = 0; i < 4; i++) await turn(null);

    const charged = await chargedOnChain(of);
    let paidMicro = 0n;
    let count = 0;
    for (const { plan, payer } of plans) {
      const expected = datesUntil(plan, lastDay);
      const { dates } = await planOf(of.ctx, plan);
      assert.deepEqual(dates, expected);
      const requests = await of.requests(plan);
      assert.equal(requests.length, expected.length);
      let spentMicro = 0n;
      for (const request of requests) {
        const amounts = charged.get(Buffer.from(request.reference).toString('hex'));
        assert.deepEqual(amounts, [BigInt(request.usdc_micro)], `the charge of ${request.id}`);
        assert.equal(request.proof_status, 'verified');
        spentMicro += BigInt(request.usdc_micro);
        count++;
      }
      assert.ok((await of.collections(plan)).every(({ state }) => state === 'charged'));
      assert.equal(await of.balance(payer.address), (balances.get(payer.address) ?? 0n) - spentMicro);
      paidMicro += spentMicro;
    }
    assert.equal(charged.size, count, 'and nothing else was charged');
    assert.equal(await of.balance(of.merchant.wallet), paidMicro);
    const events = await of.db.sql`select from webhook_deliveries`;
    assert.equal(events.length, count, 'one event for each');
    t.diagnostic(`${count} charges, ${deaths} of ${lives} processes were killed`);
    assert.ok(deaths > 10, `${deaths} processes were killed`);
  } finally {
    await of.stop();
  }
});
