import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { Batcher } from './batcher.ts';

const always = Number.POSITIVE_INFINITY;

/** One whose rounds wait until the test ends them. */
function held(max: { rounds: number; ofRound: number }) {
  const rounds: Array<{ questions: number[] } & PromiseWithResolvers<string[]>> = [];
  const gathered = new Batcher<number, string>(
    (questions) => {
      const round = { questions, ...Promise.withResolvers<string[]>() };
      rounds.push(round);
      return round.promise;
    },
    () => new Error('late'),
    max,
  );
  const answer = (at: number) => rounds[at]?.resolve(rounds[at].questions.map((n) => `answer ${n}`));
  return { gathered, rounds, answer };
}

test('Batcher › questions while rounds are under way → answered together in the next round, up to its maximum', async () => {
  const { gathered, rounds, answer } = held({ rounds: 2, ofRound: 3 });
  const all = [1, 2, 3, 4, 5, 6].map((n) => gathered.ask(n, always));
  assert.deepEqual(
    rounds.map(({ questions }) => questions),
    [[1], [2]],
  );
  answer(0);
  assert.equal(await all[0], 'answer 1');
  await setImmediate();
  assert.deepEqual(rounds[2]?.questions, [3, 4, 5]);
  answer(1);
  answer(2);
  assert.equal(await all[4], 'answer 5');
  await setImmediate();
  assert.deepEqual(rounds[3]?.questions, [6]);
  answer(3);
  assert.equal(await all[5], 'answer 6');
});

test('Batcher › a round fails → its own questions fail, and the next round runs', async () => {
  const { gathered, rounds, answer } = held({ rounds: 1, ofRound: 10 });
  const [first, second] = [gathered.ask(1, always), gathered.ask(2, always)];
  rounds[0]?.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await setImmediate();
  answer(1);
  assert.equal(await second, 'answer 2');
});

test('a question whose time is over before its round begins → refused, and not asked', async () => {
  const { gathered, rounds, answer } = held({ rounds: 1, ofRound: 10 });
  const first = gathered.ask(1, always);
  const late = gathered.ask(2, performance.now());
  const third = gathered.ask(3, always);
  answer(0);
  await assert.rejects(late, /late/);
  assert.equal(await first, 'answer 1');
  await setImmediate();
  answer(1);
  assert.equal(await third, 'answer 3');
  assert.deepEqual(rounds[1]?.questions, [3]);
});
