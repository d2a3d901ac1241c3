import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { compileCheck } from './validate.ts';

test('a text longer than any field may be breaks every pattern, unread', () => {
  const field = (letter: string) => Type.String({ pattern: `^${letter}+$`, description: `must be ${letter}’s` });
  const check = compileCheck(Type.Object({ one: field('a'), two: field('b') }));
  const [one, two] = ['a', 'b'].map((letter) => letter.repeat(1_000)) as [string, string];
  assert.deepEqual(check({ one, two }), []);
  assert.deepEqual(check({ one: `${one}a`, two }), [{ field: 'one', message: 'must be a’s' }]);
  assert.deepEqual(check({ one, two: one }), [{ field: 'two', message: 'must be b’s' }]);
});
