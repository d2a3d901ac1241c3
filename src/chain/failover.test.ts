import assert from 'node:assert/strict';
import { test } from 'node:test';
import { queryWithFailover } from './failover.ts';
import { RpcError } from './rpc.ts';

const chain = { rpcUrls: ['http://one.example', 'http://two.example'] };

/** Asks as if the first endpoints failed with these errors, and returns which were asked. */
async function ask(faults: Error[]): Promise<{ asked: string[]; answer: Promise<string> }> {
  const asked: string[] = [];
  const answer = queryWithFailover(chain, 1_000, async ({ host }) => {
    asked.push(host);
    const fault = faults[asked.length - 1];
    if (fault) throw fault;
    return `the answer of ${host}`;
  });
  await answer.catch(() => {});
  return { asked, answer };
}

test('queryWithFailover › the first endpoint answers → no other is asked', async () => {
  const { asked, answer } = await ask([]);
  assert.deepEqual([asked, await answer], [['one.example'], 'the answer of one.example']);
});

test('queryWithFailover › the first endpoint fails → the second one’s answer', async () => {
  const { asked, answer } = await ask([new RpcError('unreachable', 'one')]);
  assert.deepEqual([asked, await answer], [['one.example', 'two.example'], 'the answer of two.example']);
});

test('queryWithFailover › all endpoints fail → the last one’s error', async () => {
  const { answer } = await ask([new RpcError('unreachable', 'one'), new RpcError('limited', 'two')]);
  await assert.rejects(answer, { message: 'two', kind: 'limited' });
});

test('queryWithFailover › an error of our own → surfaces, and no other endpoint is asked', async () => {
  const { asked, answer } = await ask([new TypeError('a bug')]);
  await assert.rejects(answer, TypeError);
  assert.deepEqual(asked, ['one.example']);
});
