import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { checksum62, randomBase62 } from './base62.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('random base62 has the asked length, only its alphabet, and all of it', () => {
  const text = randomBase62(5000);
  assert.match(text, /^[0-9A-Za-z]{5000}$/);
  assert.equal(new Set(text).size, 62);
  assert.equal(randomBase62(0), '');
  assert.notEqual(randomBase62(32), randomBase62(32));
});

test('property: a checksum is the CRC-32 in six base62 characters, padded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const sum = checksum62(text);
      assert.match(sum, /^[0-9A-Za-z]{6}$/);
      const value = [...sum].reduce((total, char) => total * 62 + alphabet.indexOf(char), 0);
      assert.equal(value, crc32(text));
    }),
  );
});

test('known checksums, so that stored keys never change their meaning', () => {
  assert.equal(checksum62(''), '000000');
  assert.equal(checksum62('123456789'), '3jZRME');
});

test('property: one wrong or two swapped characters always change the checksum', () => {
  const body = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 32, maxLength: 32 });
  fc.assert(
    fc.property(body, fc.nat(30), fc.constantFrom(...alphabet), (text, at, char) => {
      const wrong = text.slice(0, at) + char + text.slice(at + 1);
      if (wrong !== text) assert.notEqual(checksum62(wrong), checksum62(text));
      const swapped = text.slice(0, at) + text[at + 1] + text[at] + text.slice(at + 2);
      if (swapped !== text) assert.notEqual(checksum62(swapped), checksum62(text));
    }),
  );
});
