import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CsvRow, csvStream } from './csv.ts';

async function write(header: string[], ...batches: CsvRow[][]): Promise<string> {
  async function* given() {
    yield* batches;
  }
  return (await csvStream(header, given()).toArray()).join('');
}

/** One cell as it appears in the file, without its quotes. */
async function cellOf(value: string): Promise<string> {
  const [, cell = ''] = /^\uFEFFname\r\n(.*)\r\n$/s.exec(await write(['name'], [[value]])) ?? [];
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

test('rows are RFC 4180, and no text becomes a formula', async () => {
  const text = await write(
    ['one', 'two', 'three', 'four'],
    [['plain', 'a,b', 'say "yes"', 'two\nlines']],
    [
      ['=HYPERLINK("x")', -5, 12n, new Date('2026-01-02T03:04:05.678Z')],
      [null, '-1+1', '@x', ''],
    ],
  );
  assert.equal(
    text,
    '\uFEFFone,two,three,four\r\nplain,"a,b","say ""yes""","two\nlines"\r\n"\'=HYPERLINK(""x"")",-5,12,2026-01-02T03:04:05.678Z\r\n,\'-1+1,\'@x,\r\n',
  );
});

const safe: Record<string, string> = {
  'a;=1+1': "a;'=1+1",
  'a\t=1+1': "a\t'=1+1",
  'a\n=1+1': "a\n'=1+1",
  'a\r\n  @SUM(A1)': "a\r\n  '@SUM(A1)",
  ' \u00a0=1+1': " \u00a0'=1+1",
  '\u200b\ufeff=1+1': "\u200b\ufeff'=1+1",
  '\t=1+1': "'\t'=1+1",
  'x;"=1+1"': 'x;"\'=1+1"',
  '＝1＋1': "'＝1＋1",
  'a;＠x': "a;'＠x",
  '+49 30 1234': "'+49 30 1234",
  '-5': '-5',
  '-12.50': '-12.50',
  'a, -b and a-b; 2': 'a, -b and a-b; 2',
  'mail@example.com': 'mail@example.com',
};
for (const [text, cell] of Object.entries(safe)) {
  test(`a cell ${JSON.stringify(text)} is written as ${JSON.stringify(cell)}`, async () => {
    assert.equal(await cellOf(text), cell);
  });
}

test('several files at once → one batch of them at a time, and in turn', async () => {
  const written: string[] = [];
  let batchesSinceOthers = 0;
  let others = setImmediate(function other() {
    batchesSinceOthers = 0;
    others = setImmediate(other);
  });
  function* rows(file: string): Iterable<CsvRow> {
    assert.equal(batchesSinceOthers++, 0, 'what else had come in was done');
    written.push(file);
    yield [file];
  }
  async function* batchesOf(file: string) {
    for (let batch = 0; batch < 3; batch++) yield rows(file);
  }
  try {
    await Promise.all(['a', 'b', 'c', 'd'].map((file) => csvStream(['name'], batchesOf(file)).toArray()));
  } finally {
    clearImmediate(others);
  }
  assert.deepEqual(
    written
      .join('')
      .match(/.{4}/g)
      ?.map((turn) => [...turn].sort().join('')),
    ['abcd', 'abcd', 'abcd'],
  );
});

test('property: however a spreadsheet splits a text, no part of it begins a formula, and nothing of it is lost', async () => {
  const unit = fc.constantFrom(...'=+-@＝＋－＠;,\t\r\n "\'a1.', '\u00a0', '\u200b', '\ufeff', '\0');
  await fc.assert(
    fc.asyncProperty(fc.string({ unit, maxLength: 30 }), async (text) => {
      const cell = await cellOf(text);
      assert.equal(cell.replaceAll("'", ''), text.replaceAll("'", ''));
      if (/^-?\d+(\.\d+)?$/.test(text)) return assert.equal(cell, text);
      for (const part of cell.split(/[;\t\r\n]/)) assert.doesNotMatch(part, /^[\s\p{C}"]*[=+\-@＝＋－＠]/u);
    }),
    { numRuns: 500 },
  );
});

test('a cell with a separator of any kind is quoted', async () => {
  const text = await write(['a'], [['a;b'], ['a\tb'], ['a,b'], ['a\rb']]);
  assert.equal(text, '\uFEFFa\r\n"a;b"\r\n"a\tb"\r\n"a,b"\r\n"a\rb"\r\n');
});
