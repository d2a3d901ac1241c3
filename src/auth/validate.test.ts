import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { oneOf } from '../lib/contract.ts';
import { compileCheck } from './validate.ts';

test('a text longer than any field may be breaks every pattern, unread', () => {
  const field = (letter: string) => Type.String({ pattern: `^${letter}+$`, description: `must be ${letter}’s` });
  const check = compileCheck(Type.Object({ one: field('a'), two: field('b') }));
  const [one, two] = ['a', 'b'].map((letter) => letter.repeat(1_000)) as [string, string];
  assert.deepEqual(check({ one, two }), []);
  assert.deepEqual(check({ one: `${one}a`, two }), [{ field: 'one', message: 'must be a’s' }]);
  assert.deepEqual(check({ one, two: one }), [{ field: 'two', message: 'must be b’s' }]);
});

test('each broken rule of a field → a message in words', () => {
  const metadata = Type.Record(Type.String(), Type.String(), { maxProperties: 1, propertyNames: { maxLength: 3 } });
  const fields = { amount: Type.Integer({ minimum: 1, maximum: 9 }), memo: Type.String({ maxLength: 2 }), metadata };
  const check = compileCheck(Type.Object({ ...fields, on: Type.Boolean(), mode: Type.Optional(oneOf(['a', 'b'])) }));
  const messages = (value: Record<string, unknown>) =>
    check({ amount: 1, memo: '', metadata: {}, on: true, ...value }).map(({ field, message }) => `${field} ${message}`);
  assert.deepEqual(messages({ amount: 0 }), ['amount must be at least 1']);
  assert.deepEqual(messages({ amount: 10 }), ['amount must be at most 9']);
  assert.deepEqual(messages({ amount: '1', memo: 5 }), ['amount must be an integer', 'memo must be a string']);
  assert.deepEqual(messages({ memo: 'abc' }), ['memo must be at most 2 characters long']);
  assert.deepEqual(messages({ metadata: { a: 'a', b: 'b' } }), ['metadata must have at most 1 keys']);
  assert.deepEqual(messages({ mode: 'c' }), ['mode must be one of a, b']);
  assert.deepEqual(messages({ mode: 5 }), ['mode must be one of a, b']);
  for (const [key, quoted] of [
    ['abcd', 'abcd'],
    ['é'.repeat(60), `${'é'.repeat(48)}…`],
  ] as const)
    assert.deepEqual(messages({ metadata: { [key]: '' } }), [
      `metadata has the key “${quoted}”, but each must be at most 3 characters long`,
    ]);
  assert.deepEqual(messages({ metadata: { a: 5 }, on: 'x' }), [
    'metadata.a must be a string',
    'on must be true or false',
  ]);
});
