import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type GroupOptions, Groups } from './groups.ts';

type Group = { items: string[] } & PromiseWithResolvers<string[] | undefined>;

/** Groups whose work waits until the test ends it. No work counts as slow unless a test says so. */
function held(options: Partial<GroupOptions<string, string>> = {}) {
  const together: Group[] = [];
  /** The work that ran alone, in order. */
  const alone: string[] = [];
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const endOf = (item: string) => {
    const known = ends.get(item) ?? Promise.withResolvers<string>();
    ends.set(item, known);
    return known;
  };
  const long = 100_000;
  const groups = new Groups<string, string>({
    ...{ maxItems: 3, atOnce: 1, few: long, slowAfterMs: long, maxBehindMs: long, maxWaitMs: long },
    ...options,
    together: (items) => {
      const group = { items, ...Promise.withResolvers<string[] | undefined>() };
      together.push(group);
      return group.promise;
    },
  });
  const run = (owner: string, item: string, kind = 'kind') =>
    groups.run(owner, kind, item, () => {
      alone.push(item);
      return endOf(item).promise;
    });
  const end = (item: string) => endOf(item).resolve(`${item} alone`);
  const fail = (item: string) => endOf(item).reject(new Error('refused'));
  const answer = (at: number) => together[at]?.resolve(together[at].items.map((item) => `${item} together`));
  return { run, end, fail, answer, together, alone, items: () => together.map(({ items }) => items) };
}

/** Waits for more turns of the event loop than any of this takes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test('Groups › nothing under way → work runs alone, at once; what comes meanwhile → runs together, up to the limit', async () => {
  const { run, end, answer, alone, items } = held();
  const first = run('a', 'a1');
  await new Promise<void>((resolve) => process.nextTick(resolve));
  assert.deepEqual(alone, ['a1'], 'within this turn of the event loop');
  const others = ['b', 'c', 'd', 'e', 'f'].map((owner) => run(owner, `${owner}1`));
  await settle();
  assert.deepEqual(items(), [], 'while one is under way');
  end('a1');
  assert.equal(await first, 'a1 alone');
  await settle();
  assert.deepEqual(items(), [['b1', 'c1', 'd1']]);
  answer(0);
  await settle();
  assert.deepEqual(items()[1], ['e1', 'f1']);
  answer(1);
  assert.deepEqual(
    await Promise.all(others),
    ['b', 'c', 'd', 'e', 'f'].map((owner) => `${owner}1 together`),
  );
});

test('Groups › a group takes items of owners without other work under way, one of each, the longest wait first', async () => {
  const { run, end, answer, alone, items } = held({ atOnce: 2 });
  const all = [run('a', 'a1'), run('b', 'b1'), run('a', 'a2'), run('b', 'b2'), run('c', 'c1')];
  await settle();
  assert.deepEqual([alone, items()], [['a1'], [['b1', 'c1']]]);
  answer(0);
  await settle();
  assert.deepEqual(alone, ['a1', 'b2'], 'b’s next work; a’s waits for a’s');
  end('b2');
  await settle();
  assert.deepEqual(alone, ['a1', 'b2', 'a2'], 'nobody else waits');
  end('a1');
  end('a2');
  await Promise.all(all);
});

test('Groups › a group under way → a full one runs beside it, a smaller one only while few items are under way', async () => {
  const { run, end, answer, items } = held({ atOnce: 2, few: 3 });
  const all = ['a', 'b', 'c'].map((owner) => run(owner, `${owner}1`));
  await settle();
  assert.deepEqual(items(), [['b1', 'c1']], 'three are few');
  end('a1');
  all.push(run('d', 'd1'), run('e', 'e1'));
  await settle();
  assert.equal(items().length, 1, 'four are not');
  all.push(run('f', 'f1'));
  await settle();
  assert.deepEqual(items()[1], ['d1', 'e1', 'f1'], 'full');
  all.push(run('g', 'g1'), run('h', 'h1'), run('i', 'i1'));
  await settle();
  assert.equal(items().length, 2, 'no more than two at once');
  answer(0);
  await settle();
  assert.deepEqual(items()[2], ['g1', 'h1', 'i1']);
  all.push(run('j', 'j1'));
  answer(1);
  await settle();
  assert.equal(items().length, 3, 'one waits behind a group of three');
  answer(2);
  await settle();
  end('j1');
  await Promise.all(all);
});

test('work of one owner alone → at once, however much there is', async () => {
  const { run, end, alone } = held();
  const all = ['a1', 'a2', 'a3'].map((item) => run('a', item));
  await new Promise<void>((resolve) => process.nextTick(resolve));
  assert.deepEqual(alone, ['a1', 'a2', 'a3']);
  for (const item of alone) end(item);
  await Promise.all(all);
});

test('work of two kinds → two groups', async () => {
  const { run, end, answer, items } = held();
  const all = [run('a', 'a1'), run('b', 'b1', 'other'), run('c', 'c1'), run('d', 'd1', 'other'), run('e', 'e1')];
  end('a1');
  await settle();
  answer(0);
  await settle();
  answer(1);
  await Promise.all(all);
  assert.deepEqual(items(), [
    ['b1', 'd1'],
    ['c1', 'e1'],
  ]);
});

test('a group that returns undefined, or no answer for one item → each of these runs alone and still counts as under way', async () => {
  const { run, end, together, alone, items } = held();
  const all = [run('a', 'a1'), run('b', 'b1'), run('c', 'c1')];
  end('a1');
  await settle();
  together[0]?.resolve(undefined);
  await settle();
  assert.deepEqual(alone, ['a1', 'b1', 'c1']);
  all.push(run('d', 'd1'), run('e', 'e1'));
  await settle();
  assert.equal(items().length, 1, 'the place is theirs until one of them has ended');
  end('b1');
  await settle();
  together[1]?.resolve(['d1 together']);
  await settle();
  end('c1');
  end('e1');
  assert.deepEqual(await Promise.all(all), ['a1 alone', 'b1 alone', 'c1 alone', 'd1 together', 'e1 alone']);
});

test('Groups › a group fails → only its own work gets the error', async () => {
  const { run, end, answer, together } = held();
  const [first, ...lost] = [run('a', 'a1'), run('b', 'b1'), run('c', 'c1'), run('d', 'd1')];
  const next = [run('e', 'e1'), run('f', 'f1')];
  end('a1');
  await first;
  await settle();
  together[0]?.reject(new Error('away'));
  const outcomes = await Promise.allSettled(lost);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  await settle();
  answer(1);
  assert.deepEqual(await Promise.all(next), ['e1 together', 'f1 together']);
});

test('work alone that fails → its own error, and the next has its place', async () => {
  const { run, end, fail } = held();
  const [first, next] = [run('a', 'a1'), run('b', 'b1')];
  fail('a1');
  await assert.rejects(first, /refused/);
  await settle();
  end('b1');
  assert.equal(await next, 'b1 alone');
});

test('work that takes longer than `slowAfterMs` → other work runs beside it, and its owner’s waits for it', async () => {
  const { run, end, answer, together, alone, items } = held({ slowAfterMs: 1 });
  const stuck = run('a', 'a1');
  const others = [run('b', 'b1'), run('c', 'c1')];
  const behind = run('a', 'a2');
  while (together.length === 0) await setImmediate();
  assert.deepEqual(items(), [['b1', 'c1']]);
  answer(0);
  await Promise.all(others);
  while (!alone.includes('a2')) await setImmediate();
  end('a2');
  end('a1');
  assert.deepEqual(await Promise.all([stuck, behind]), ['a1 alone', 'a2 alone']);
});

test('work behind its owner’s other work for long → alone beside it, before others that wait', async () => {
  const { run, end, answer, alone, items } = held({ atOnce: 2, maxBehindMs: -1 });
  const all = [run('a', 'a1'), run('b', 'b1', 'other'), run('a', 'a2'), run('c', 'c1'), run('d', 'd1')];
  await settle();
  assert.deepEqual([alone, items()], [['a1', 'b1'], []]);
  end('b1');
  await settle();
  assert.deepEqual([alone, items()], [['a1', 'b1', 'a2'], []]);
  end('a1');
  await settle();
  assert.deepEqual(items(), [['c1', 'd1']]);
  end('a2');
  answer(0);
  await Promise.all(all);
});

test('work whose turn does not come in time → fails as unreachable, and never runs', async () => {
  const { run, end, alone, items } = held({ maxWaitMs: -1 });
  const [first, late] = [run('a', 'a1'), run('b', 'b1')];
  await assert.rejects(late, { code: 'CONNECTION_TIMEOUT' });
  end('a1');
  await first;
  const again = run('b', 'b2');
  end('b2');
  assert.equal(await again, 'b2 alone');
  assert.deepEqual([alone, items()], [['a1', 'b2'], []]);
});
