import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Tarpit } from './tarpit.ts';

test('Hold › a thousand wait → each for a second, and further ones not at all; once it has ended → nobody waits', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const tarpit = new Tarpit();
    let released = 0;
    const all = Array.from({ length: 1_000 }, () => tarpit.wait().then(() => released++));
    await tarpit.wait();
    mock.timers.tick(999);
    await Promise.resolve();
    assert.equal(released, 0);
    mock.timers.tick(1);
    await Promise.all(all);
    const again = tarpit.wait();
    tarpit.end();
    await again;
    await tarpit.wait();
  } finally {
    mock.timers.reset();
  }
});
