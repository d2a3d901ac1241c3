import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { endPlan, type PlanOf } from '../../src/plans/lifecycle.ts';
import { changeTerms } from '../../src/plans/terms.ts';
import { type AgreeFixtures, agreeFixtures } from '../support/payments/agree-fixtures.ts';
import { until } from '../support/until.ts';

// A wallet's allowance must cover all that it agreed to, over all plans. What it signs at once is checked in turn.

let of: AgreeFixtures;
before(async () => {
  of = await agreeFixtures();
});
after(() => of?.stop());

type Payer = Awaited<ReturnType<typeof of.payer>>;
type Post = () => ReturnType<typeof of.post>;

/** What is posted to agree to a plan, signed, with the permit for what it asks alone. */
async function readyToAgree(plan: Awaited<ReturnType<typeof of.plan>>, payer: Payer): Promise<Post> {
  const { signed } = await of.sign(plan, payer);
  const step = await of.post(plan, 'allowance', signed);
  const fields = { ...signed, ...(await of.permit(payer, step)) };
  return () => of.post(plan, 'agree', fields);
}

/** Posts these in this order, each once the one before it has been checked and waits to be stored; and then `meanwhile`. */
async function atOnce({ address }: Payer, posts: Post[], meanwhile = async () => {}) {
  const name = `mandates ${of.chain.chainId} ${of.token} ${address} ${of.contract}`;
  const waiting = async () => {
    const [row] = await of.db.sql<{ count: number }[]>`
      select count(*)::int from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
    return row?.count;
  };
  const { answers } = await of.db.transaction(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
    const answers: ReturnType<Post>[] = [];
    for (const post of posts) {
      answers.push(post());
      await until(async () => (await waiting()) === answers.length, 'it waits for the payer');
    }
    await meanwhile();
    return { answers };
  });
  return (await Promise.all(answers)).map(({ done, fault }) => done ?? fault);
}

test('A wallet agrees to two plans at once → the second is refused, since its permit does not cover both', async () => {
  const [one, two] = [await of.plan(), await of.plan({ fiatInt: 500 })];
  const payer = await of.payer(500_000_000n);
  const posts = [await readyToAgree(one, payer), await readyToAgree(two, payer)];
  assert.deepEqual(await atOnce(payer, posts), ['agreed', 'allowance_changed']);
  assert.deepEqual([(await of.mandatesOf(one)).length, (await of.mandatesOf(two)).length], [1, 0]);
  const [permit] = await of.db.sql<{ value: string }[]>`select value from permits where payer = ${payer.address}`;
  assert.equal(permit?.value, String(12n * 12_010_000n), 'the permit of the one that was stored');
  assert.equal((await of.agreeByPage(two, payer)).answer.done, 'agreed', 'once it is asked for both');
});

test('A wallet allows more for one plan and agrees to another at once → what comes second is refused', async () => {
  const [one, two] = [await of.plan(), await of.plan({ fiatInt: 500 })];
  const payer = await of.payer(500_000_000n);
  assert.equal((await of.agreeByPage(one, payer)).answer.done, 'agreed');
  const signed = await of.signRaise(one, payer, '24');
  const step = await of.post(one, 'raise-step', signed);
  const fields = { ...signed, ...(await of.permit(payer, step)) };
  const agree = await readyToAgree(two, payer);
  assert.deepEqual(await atOnce(payer, [agree, () => of.post(one, 'raise', fields)]), ['agreed', 'allowance_changed']);
  assert.equal((await of.mandateOf(one)).allowed_charges, 12, 'as before');
});

test('The merchant changes or ends the plan while an agreement is checked → it was to other terms, and is not stored', async () => {
  const { ctx, scope } = of;
  const lower = {
    fiatInt: 900,
    collect: 'automatic',
    capFiatInt: 1000,
    reservePercent: 3,
    afterPastDue: 'link',
  } as const;
  const changes: ((plan: PlanOf) => Promise<unknown>)[] = [
    (plan) => changeTerms(ctx, theService, plan, lower, 'USD'),
    (plan) => endPlan(ctx, theService, plan),
  ];
  for (const change of changes) {
    const plan = await of.plan();
    const payer = await of.payer(500_000_000n);
    const agree = await readyToAgree(plan, payer);
    const work = async () => {
      assert.equal(await change({ scope, accountId: plan.account_id, id: plan.id }), true);
    };
    assert.deepEqual(await atOnce(payer, [agree], work), ['stale']);
    assert.equal((await of.mandatesOf(plan)).length, 0);
  }
});

test('The customer stops while more charges are allowed → nothing is allowed, and the permit for them is not kept', async () => {
  const plan = await of.plan();
  const payer = await of.payer(500_000_000n);
  assert.equal((await of.agreeByPage(plan, payer)).answer.done, 'agreed');
  const permit = () => of.db.sql`select value from permits where payer = ${payer.address}`;
  const before = await permit();
  const signed = await of.signRaise(plan, payer, '24');
  const fields = { ...signed, ...(await of.permit(payer, await of.post(plan, 'raise-step', signed))) };
  const stop = async () => void (await of.post(plan, 'stop', {}));
  assert.deepEqual(await atOnce(payer, [() => of.post(plan, 'raise', fields)], stop), ['none']);
  assert.deepEqual([(await of.mandateOf(plan)).state, (await of.mandateOf(plan)).allowed_charges], ['stopped', 12]);
  assert.deepEqual(await permit(), before);
});
