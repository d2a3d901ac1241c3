import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dig, parseExactJson } from './source.ts';

test('numbers keep every digit of their text', () => {
  const parsed = parseExactJson(
    '{"a":0.1000000000000000055511151231257827,"b":[1e-7,12345678901234567890],"c":"x","d":null}',
  );
  assert.deepEqual(parsed, {
    a: '0.1000000000000000055511151231257827',
    b: ['1e-7', '12345678901234567890'],
    c: 'x',
    d: null,
  });
});

test('dig › a path of own keys → the value there; anything else → undefined', () => {
  const value = { a: [{ b: '1' }] };
  assert.equal(dig(value, 'a', 0, 'b'), '1');
  assert.equal(dig(value, 'a', 1, 'b'), undefined);
  assert.equal(dig(value, 'constructor', 'name'), undefined);
  assert.equal(dig(null, 'a'), undefined);
  assert.equal(dig('text', 'length'), undefined);
});
