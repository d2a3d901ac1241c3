import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { decrypt, encrypt, keyedHash, matchesAnyKey, newest, type SecretKey } from './encrypt.ts';

const makeKey = (id: string): SecretKey => ({ id, key: randomBytes(32) });
const old = makeKey('old');
const fresh = makeKey('fresh');

test('property: what was encrypted decrypts to the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(decrypt([fresh], encrypt([fresh], text)), text);
    }),
  );
});

test('the newest key encrypts, older ones still decrypt', () => {
  const encrypted = encrypt([old], 'whsec_x');
  assert.equal(decrypt([fresh, old], encrypted), 'whsec_x');
  assert.equal(decrypt([fresh], encrypt([fresh, old], 'whsec_y')), 'whsec_y');
  assert.throws(() => decrypt([fresh], encrypted), /no longer holds the key "old"/);
});

test('the same text is encrypted differently every time, and is not to be seen in it', () => {
  const [one, two] = [encrypt([fresh], 'whsec_secret'), encrypt([fresh], 'whsec_secret')];
  assert.notDeepEqual(one, two);
  assert.ok(!one.includes('whsec_secret'));
});

test('a changed byte → decryption fails', () => {
  const encrypted = encrypt([fresh], 'whsec_secret');
  for (let i = 0; i < encrypted.length; i++) {
    const changed = Buffer.from(encrypted);
    changed[i] = (changed[i] ?? 0) ^ 1;
    assert.throws(() => decrypt([fresh], changed), `byte ${i}`);
  }
});

test('decrypting a text that was cut off → refused: a shorter authentication tag is never accepted', () => {
  const encrypted = encrypt([fresh], '');
  for (let length = 0; length < encrypted.length; length++) {
    assert.throws(() => decrypt([fresh], encrypted.subarray(0, length)), `${length} bytes`);
  }
  const longer = encrypt([fresh], 'text');
  for (let length = 0; length < longer.length; length++) {
    assert.throws(() => decrypt([fresh], longer.subarray(0, length)), `${length} bytes`);
  }
});

test('another key under the same id does not decrypt', () => {
  assert.throws(() => decrypt([makeKey('fresh')], encrypt([fresh], 'x')));
});

test('a keyed hash depends on key, purpose and text, and on nothing else', () => {
  const hash = keyedHash(fresh, 'api-key', 'a');
  assert.equal(hash.length, 32);
  assert.deepEqual(keyedHash({ ...fresh }, 'api-key', 'a'), hash);
  const others = [keyedHash(old, 'api-key', 'a'), keyedHash(fresh, 'reference', 'a'), keyedHash(fresh, 'api-key', 'b')];
  for (const other of others) assert.notDeepEqual(other, hash);
});

test('a keyed hash is recognised by any of the keys, whole; another, a shorter and an empty one are not', () => {
  const macOf = (secret: SecretKey) => keyedHash(secret, 'session', 'a');
  assert.ok(matchesAnyKey([fresh, old], macOf, macOf(old)));
  for (const other of [keyedHash(old, 'session', 'b'), macOf(old).subarray(1), Buffer.alloc(0)])
    assert.ok(!matchesAnyKey([fresh, old], macOf, other));
  assert.ok(!matchesAnyKey([fresh], macOf, macOf(old)));
});

test('no key → encrypting throws', () => {
  assert.throws(() => newest([]), /no secret key/);
  assert.throws(() => encrypt([], 'x'), /no secret key/);
});
