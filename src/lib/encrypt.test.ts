import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { keyedHash, newest, open, type SecretKey, seal } from './encrypt.ts';

const makeKey = (id: string): SecretKey => ({ id, key: randomBytes(32) });
const old = makeKey('old');
const fresh = makeKey('fresh');

test('property: what was sealed opens again', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      assert.equal(open([fresh], seal([fresh], text)), text);
    }),
  );
});

test('the newest key seals, older ones still open', () => {
  const sealed = seal([old], 'whsec_x');
  assert.equal(open([fresh, old], sealed), 'whsec_x');
  assert.equal(open([fresh], seal([fresh, old], 'whsec_y')), 'whsec_y');
  assert.throws(() => open([fresh], sealed), /no longer holds the key "old"/);
});

test('the same text is sealed differently every time, and is not to be seen in it', () => {
  const [one, two] = [seal([fresh], 'whsec_secret'), seal([fresh], 'whsec_secret')];
  assert.notDeepEqual(one, two);
  assert.ok(!one.includes('whsec_secret'));
});

test('any changed byte is noticed', () => {
  const sealed = seal([fresh], 'whsec_secret');
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i] = (changed[i] ?? 0) ^ 1;
    assert.throws(() => open([fresh], changed), `byte ${i}`);
  }
});

test('cut-off bytes are noticed: a shorter authentication tag is never accepted', () => {
  const sealed = seal([fresh], '');
  for (let length = 0; length < sealed.length; length++) {
    assert.throws(() => open([fresh], sealed.subarray(0, length)), `${length} bytes`);
  }
  const longer = seal([fresh], 'text');
  for (let length = 0; length < longer.length; length++) {
    assert.throws(() => open([fresh], longer.subarray(0, length)), `${length} bytes`);
  }
});

test('another key under the same id does not open', () => {
  assert.throws(() => open([makeKey('fresh')], seal([fresh], 'x')));
});

test('a keyed hash depends on key, purpose and text, and on nothing else', () => {
  const hash = keyedHash(fresh, 'api-key', 'a');
  assert.equal(hash.length, 32);
  assert.deepEqual(keyedHash({ ...fresh }, 'api-key', 'a'), hash);
  const others = [keyedHash(old, 'api-key', 'a'), keyedHash(fresh, 'reference', 'a'), keyedHash(fresh, 'api-key', 'b')];
  for (const other of others) assert.notDeepEqual(other, hash);
});

test('without any key nothing is sealed', () => {
  assert.throws(() => newest([]), /no secret key/);
  assert.throws(() => seal([], 'x'), /no secret key/);
});
