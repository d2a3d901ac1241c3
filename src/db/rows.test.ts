import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Field, rowsOf } from './rows.ts';

const text = 25;
const [bool, int4, int8, numeric, json, timestamptz] = [16, 23, 20, 1700, 114, 1184];
const fieldsOf = (types: Record<string, number>): Field[] =>
  Object.entries(types).map(([name, dataTypeID]) => ({ name, dataTypeID }));

test('a row › each value as its type says, null as null, in the order of the columns', () => {
  const fields = fieldsOf({ a: text, b: bool, c: int4, d: int8, e: numeric, f: json, g: timestamptz });
  const texts = ['é', 't', '-7', '9007199254740993', '0.10', '{"2":1,"1":2}', '2026-11-23 06:01:11.5+00'];
  const row = rowsOf(fields)(texts);
  const at = new Date('2026-11-23T06:01:11.500Z');
  assert.deepEqual(row, { a: 'é', b: true, c: -7, d: '9007199254740993', e: '0.10', f: '{"2":1,"1":2}', g: at });
  assert.deepEqual(Object.keys(row), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  const nothing = rowsOf(fields)(texts.map(() => null));
  assert.deepEqual(
    Object.values(nothing),
    texts.map(() => null),
  );
});

test('columns with any name › are names only: nothing in them is run', () => {
  const odd = [
    '__proto__',
    'constructor',
    '"',
    "'",
    '\\',
    '`+(globalThis.ran = 1)+`',
    '}); globalThis.ran = 1; ({',
    '\u2028',
    '\n',
    '',
  ];
  const names = fc.uniqueArray(fc.oneof(fc.constantFrom(...odd), fc.string({ maxLength: 8 })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(names, (all) => {
      const row = rowsOf(all.map((name) => ({ name, dataTypeID: text })))(all.map((_, at) => `value ${at}`));
      const wanted = new Map(all.map((name, at) => [name, `value ${at}`]));
      assert.deepEqual(new Map(Object.entries(row)), wanted);
      assert.equal(Object.getPrototypeOf(row), Object.prototype);
    }),
  );
  assert.equal('ran' in globalThis, false);
});

test('two columns of one name › the last one counts; the same names with other types are other rows', () => {
  assert.deepEqual(
    rowsOf([
      { name: 'n', dataTypeID: text },
      { name: 'n', dataTypeID: int4 },
    ])(['a', '1']),
    { n: 1 },
  );
  assert.deepEqual(rowsOf(fieldsOf({ n: text }))(['1']), { n: '1' });
  assert.deepEqual(rowsOf(fieldsOf({ n: int4 }))(['1']), { n: 1 });
  assert.deepEqual(rowsOf([])([]), {});
});

test('times › the millisecond that the text says, in any year and zone', () => {
  const read = (at: string) => rowsOf(fieldsOf({ at: timestamptz }))([at]).at;
  const times = fc.date({
    min: new Date('1000-01-01Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(times, fc.integer({ min: 0, max: 999 }), (time, micros) => {
      const [day, hour] = time.toISOString().slice(0, -1).split('T');
      const fraction = `${hour?.slice(9)}${String(micros).padStart(3, '0')}`.replace(/0+$/, '');
      const said = `${day} ${hour?.slice(0, 8)}${fraction && `.${fraction}`}+00`;
      assert.equal((read(said) as Date).getTime(), time.getTime(), said);
    }),
  );
  assert.equal((read('2026-03-29 01:30:00.999999+02') as Date).getTime(), Date.parse('2026-03-28T23:30:00.999Z'));
  assert.equal((read('0099-01-01 00:00:00+00') as Date).getUTCFullYear(), 99);
  assert.equal((read('10000-01-01 00:00:00.5+00') as Date).getUTCFullYear(), 10_000);
  assert.equal((read('0044-03-15 12:00:00+00 BC') as Date).getUTCFullYear(), -43);
  assert.deepEqual([read('infinity'), read('-infinity')], [Infinity, -Infinity]);
});
