import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeSleeper } from './sleeper.ts';

const never = new AbortController().signal;
const dayMs = 86_400_000;

test('woken while asleep, or before → the sleep ends, and the next one is a sleep again', async () => {
  const sleeper = makeSleeper();
  const first = sleeper.sleep(dayMs, never);
  sleeper.wake();
  await first;
  sleeper.wake();
  sleeper.wake();
  await sleeper.sleep(dayMs, never);
  let over = false;
  const ending = new AbortController();
  const second = sleeper.sleep(dayMs, ending.signal).then(() => {
    over = true;
  });
  await sleeper.sleep(0, never);
  assert.equal(over, false);
  ending.abort();
  await second;
  await sleeper.sleep(dayMs, ending.signal);
});

test('set to several times → the earliest counts, and what has not come yet is kept', async () => {
  const sleeper = makeSleeper();
  sleeper.wakeIn(dayMs);
  const sleeping = sleeper.sleep(2 * dayMs, never);
  sleeper.wakeIn(1);
  sleeper.wakeIn(dayMs);
  await sleeping;
  let began: number;
  do {
    // On a busy machine the short sleep may take as long as the wake-up, and use it.
    began = performance.now();
    sleeper.wakeIn(30);
    await sleeper.sleep(0, never);
  } while (performance.now() - began >= 30);
  await sleeper.sleep(dayMs, never);
});
