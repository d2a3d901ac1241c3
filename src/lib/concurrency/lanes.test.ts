import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Lanes } from './lanes.ts';

test('Lanes › a key has its maximum under way → its further work waits in order, also behind work that fails; other keys go on', async () => {
  const lanes = new Lanes(2);
  const begun: string[] = [];
  const ends: Array<PromiseWithResolvers<void>> = [];
  const run = (key: string, name: string) => {
    const end = Promise.withResolvers<void>();
    ends.push(end);
    const work = async () => {
      begun.push(name);
      await end.promise;
      return name;
    };
    return lanes.run(key, work).catch(() => `${name} failed`);
  };
  const all = [run('a', 'a1'), run('a', 'a2'), run('a', 'a3'), run('a', 'a4'), run('b', 'b1')];
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
  ends[0]?.reject(new Error('no'));
  await all[0];
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3']);
  for (const end of ends) end.resolve();
  assert.deepEqual(await Promise.all(all), ['a1 failed', 'a2', 'a3', 'a4', 'b1']);
  assert.equal(await lanes.run('a', async () => 'again'), 'again');
});

test('Lanes › work waits longer than it may → it fails, and what is behind it has its turn', async () => {
  const lanes = new Lanes(1, 10, 20);
  const first = Promise.withResolvers<void>();
  const running = lanes.run('a', () => first.promise);
  await assert.rejects(
    lanes.run('a', async () => assert.fail('it began')),
    { code: 'CONNECTION_TIMEOUT' },
  );
  first.resolve();
  await running;
  assert.equal(await lanes.run('a', async () => 'again'), 'again');
});

test('room for little of all keys together › a few keys leave some, and the key of which least runs comes next', async () => {
  const lanes = new Lanes(2, 5);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (name: string) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    ends.set(name, resolve);
    const work = () => {
      begun.push(name);
      return promise;
    };
    return lanes.run(name.slice(0, 1), work);
  };
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1', 'c2'].map(run);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1'], 'one is left');
  all.push(run('d1'));
  assert.deepEqual(begun.splice(0), ['a1', 'a2', 'b1', 'c1', 'd1']);
  all.push(...['e1', 'f1', 'e2'].map(run));
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
    return begun.splice(0);
  };
  assert.deepEqual(await end('a2'), ['e1'], 'none of it runs yet');
  assert.deepEqual(await end('b1'), ['b2'], 'nothing of b runs any more, and it waited longest');
  assert.deepEqual(await end('a1'), ['f1']);
  assert.deepEqual(await end('f1'), ['a3']);
  for (const name of ['c1', 'd1', 'e1', 'b2', 'a3', 'c2', 'e2']) await end(name);
  await Promise.all(all);
  assert.equal(await lanes.run('a', async () => 'again'), 'again');
});

test('work of a key that waits too long › leaves what the key has waiting its turn', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const lanes = new Lanes(1, 1, 100);
  const begun: string[] = [];
  const first = Promise.withResolvers<void>();
  const run = (key: string, name: string) =>
    lanes.run(key, async () => void begun.push(name)).catch(() => `${name} late`);
  const all = [lanes.run('x', () => first.promise), run('a', 'a1')];
  t.mock.timers.tick(50);
  all.push(run('b', 'b1'), run('a', 'a2'));
  t.mock.timers.tick(50);
  first.resolve();
  await Promise.all(all);
  assert.deepEqual(begun, ['a2', 'b1']);
});
