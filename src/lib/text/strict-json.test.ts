import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

function refuses(...texts: string[]): void {
  for (const text of texts) assert.equal(parse(text), null, text);
}

test('a JSON object → parsed', () => {
  assert.deepEqual(parse(' {"a":1,"b":[true,null,"x"],"c":{"d":-1.5e3}}\n')?.value, {
    a: 1,
    b: [true, null, 'x'],
    c: { d: -1500 },
  });
  assert.deepEqual(parse('{}')?.value, {});
});

test('a number that would lose its fraction → no number; a whole one in any form stays', () => {
  const numberOf = (number: string) => parse(`{"a":${number}}`)?.value.a;
  for (const number of [
    '1250.00000000000000001',
    '12500000000000000000001e-19',
    '-1.00000000000000000000001',
    '1e-400',
  ])
    assert.ok(Number.isNaN(numberOf(number)), number);
  for (const number of ['5', '5.0', '5.000000000000000000000', '50000000000000000000e-19', '0.0005e4', '5e-0'])
    assert.equal(numberOf(number), 5, number);
  assert.equal(numberOf('0.00000000000000000000'), 0);
  assert.equal(numberOf('0.12345678901234567890'), 0.12345678901234568);
  assert.deepEqual(parse('{"a":"1250.00000000000000001"}')?.value, { a: '1250.00000000000000001' });
});

test('strict JSON › no object, or no JSON → refused', () => {
  refuses('', ' ', '[]', '[{}]', 'null', '1', '"{}"', 'true', '{', '{}}', '{"a":1,}', "{'a':1}", '{a:1}', '{"a":01}');
  refuses('{}{}', '{"a":NaN}', '{"a":1}//', '{"a":"\n"}', '{"a":"\\x"}', '{"a":+1}', '{"a":.5}', '\u00a0{}');
});

test('more than 32 levels are refused, however many; brackets in strings do not count', () => {
  const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  assert.ok(parse(deep(32)));
  refuses(deep(33), deep(60_000), `{"a":${'{"b":'.repeat(32)}1${'}'.repeat(33)}`);
  assert.ok(parse(`{"a":"${'['.repeat(100)}\\"${'{'.repeat(100)}"}`.replace('\\"', '\\\\')));
  assert.ok(parse(`{"a":"\\"${'['.repeat(100)}"}`));
});

test('duplicate keys are refused in any depth', () => {
  refuses('{"a":1,"a":1}', '{"a":{"b":1,"b":2}}', '{"a":[{"b":1,"c":2,"b":3}]}', '{"a":[[[{"b":1,"b":1}]]]}');
  refuses('{"a":{"x":1},"b":2,"a":3}', '{"":1,"":2}');
});

test('duplicate keys are seen through escapes and white space', () => {
  refuses('{"a":1,"\\u0061":2}', '{"\\u0061":1,"a" \n\t\r : 2}', '{"/":1,"\\/":2}', '{"é":1,"\\u00e9":2}');
  refuses('{"😀":1,"\\ud83d\\ude00":2}', '{"\\"":1,"\\u0022":2}');
});

test('the same key in different objects, and as a value, is fine', () => {
  assert.ok(parse('{"a":{"a":{"a":1}},"b":{"a":1}}'));
  assert.ok(parse('{"a":[{"a":1},{"a":1}]}'));
  assert.ok(parse('{"a":"a","b":["a","a","a"],"c":"b"}'));
});

test('strict JSON › the order of keys → values that look like keys are not in it', () => {
  assert.ok(parse('{"a":"a\\":","b":"\\"a\\":1","c":":","d":["a",":"]}'));
  assert.ok(parse('{"a:":1,"a":2}'));
});

test('a key __proto__ is refused in any depth, also escaped; as a value it is fine', () => {
  refuses('{"__proto__":1}', '{"a":{"__proto__":{}}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":1}');
  assert.ok(parse('{"a":"__proto__","b":["__proto__"]}'));
});

test('strict JSON › keys such as toString and constructor → kept like any other', () => {
  const parsed = parse('{"constructor":"1","toString":"2","hasOwnProperty":"3"}');
  assert.deepEqual(parsed && Object.keys(parsed.value), ['constructor', 'toString', 'hasOwnProperty']);
});

test('NUL is refused in keys and values, escaped; raw control characters are no JSON', () => {
  refuses('{"a":"\\u0000"}', '{"a\\u0000":1}', '{"a":["x\\u0000y"]}', '{"a":"\0"}', '{"a":1}\0');
  assert.ok(parse('{"a":"\\\\u0000"}'), 'an escaped backslash followed by u0000 is no NUL');
  assert.ok(parse('{"a":"\\u0001"}'));
});

test('lone surrogates are refused, raw or escaped; pairs are fine', () => {
  refuses('{"a":"\\ud800"}', '{"a":"\\udc00"}', '{"\\ud800":1}', '{"a":"\\udc00\\ud800"}', '{"a":["x\\ud83dx"]}');
  assert.equal(parseStrictJson(Buffer.from([...Buffer.from('{"a":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')])), null);
  assert.equal(parse('{"a":"\\ud83d\\ude00"}')?.value.a, '😀');
  assert.ok(parse('{"a":"\\\\ud800"}'), 'an escaped backslash followed by ud800 is no surrogate');
});

test('bytes that are no UTF-8 are refused', () => {
  const wrap = (...bytes: number[]) => Buffer.from([...Buffer.from('{"a":"'), ...bytes, ...Buffer.from('"}')]);
  const bad = [[0xff], [0xc0, 0xaf], [0xc3], [0xe2, 0x82], [0x80], [0xf5, 0x80, 0x80, 0x80], [0xf0, 0x80, 0x80, 0x80]];
  for (const bytes of bad) assert.equal(parseStrictJson(wrap(...bytes)), null, bytes.join());
  assert.ok(parseStrictJson(wrap(0xc3, 0xa9)));
  assert.equal(parseStrictJson(Buffer.from('{"a":1}', 'utf16le')), null);
});

test('a byte order mark is refused at the start and kept inside a string', () => {
  refuses('\ufeff{"a":1}', '{"a":1}\ufeff');
  assert.equal(parse('{"a":"\ufeffx"}')?.value.a, '\ufeffx');
});

test('strict JSON › the order of keys → as written, also of keys that look like integers', () => {
  const parsed = parse('{"x":1,"metadata":{"b":"1","10":"2","2":"3","a":"4","0":"5"},"y":{}}');
  assert.deepEqual(parsed?.keyOrder.get('metadata'), ['b', '10', '2', 'a', '0']);
  assert.deepEqual(parsed?.keyOrder.get('y'), []);
  assert.equal(parsed?.keyOrder.get('x'), undefined);
});

test('the order of keys is returned unescaped, and only for objects directly under the root', () => {
  const parsed = parse(
    '{"meta\\u0064ata":{"a:b":"1","\\"":"2","\\u00e9":"3","":"4","{":"5"},"o":[{"p":1}],"q":{"r":{"s":1}}}',
  );
  assert.deepEqual(parsed?.keyOrder.get('metadata'), ['a:b', '"', 'é', '', '{']);
  assert.deepEqual([...(parsed?.keyOrder.keys() ?? [])], ['metadata', 'q']);
  assert.deepEqual(parsed?.keyOrder.get('q'), ['r']);
});

test('an array under the root, after an object, does not borrow its key order', () => {
  const parsed = parse('{"a":{"b":"1"},"c":[{"d":1}],"e":{"f":2}}');
  assert.deepEqual(
    [...(parsed?.keyOrder ?? [])],
    [
      ['a', ['b']],
      ['e', ['f']],
    ],
  );
});

test('a body of the largest size and any shape is read in linear time', () => {
  const size = 128 * 1024;
  const shapes = [
    `{"a":"${'\\'.repeat(size & ~1)}"}`,
    `{"a":"${'"'.repeat(0)}${' '.repeat(size)}"}`,
    `{"a"${' '.repeat(size)}:1}`,
    `{"a":["x"${' '.repeat(size)}]}`,
    `{"a":[${Array.from({ length: size / 4 }, () => '""').join(', ')}]}`,
    `{${Array.from({ length: size / 10 }, (_, i) => `"${i}":1`).join(',')}}`,
    `{"a":[${'{},'.repeat(size / 3)}{}]}`,
    `{"a":"${'\\u0061'.repeat(size / 6)}"}`,
    `{"a":1.${'0'.repeat(8 * size)}1}`,
    `{"a":[${Array.from({ length: size / 20 }, () => '1.00000000000000000').join(',')}]}`,
  ];
  for (const shape of shapes) assert.ok(parse(shape), shape.slice(0, 20));
  refuses(`{"a":"${'\\'.repeat(size + 1)}`, '"'.repeat(size), `{"a":"${'x'.repeat(size)}`);
});

test('property: any JSON object without the forbidden is read as JSON.parse reads it, with its keys in order', () => {
  const forbidden = (text: string) => text.includes('\0') || !text.isWellFormed() || text === '__proto__';
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !forbidden(value));
  const members = fc.uniqueArray(fc.tuple(text, fc.oneof(text, fc.integer(), fc.constant(null))), {
    selector: ([key]) => key,
  });
  fc.assert(
    fc.property(members, (pairs) => {
      const inner = `{${pairs.map(([key, value]) => `${JSON.stringify(key)} :${JSON.stringify(value)}`).join(' ,')}}`;
      const parsed = parse(`{"metadata":${inner}}`);
      assert.deepEqual(parsed?.value, JSON.parse(`{"metadata":${inner}}`));
      assert.deepEqual(
        parsed?.keyOrder.get('metadata'),
        pairs.map(([key]) => key),
      );
    }),
  );
});

test('property: no bytes whatever make it throw', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => void parseStrictJson(bytes)));
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\u0a1 ') }), (text) => void parse(text)));
});
