import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvStream } from './csv.ts';

async function* batches() {
  yield [['plain', 'a,b', 'say "yes"', 'two\nlines']];
  yield [
    ['=HYPERLINK("x")', -5, 12n, new Date('2026-01-02T03:04:05.678Z')],
    [null, '-1+1', '@x', ''],
  ];
}

test('rows are RFC 4180, and no text becomes a formula', async () => {
  const text = await csvStream(['one', 'two', 'three', 'four'], batches()).toArray();
  assert.equal(
    text.join(''),
    '\uFEFFone,two,three,four\r\nplain,"a,b","say ""yes""","two\nlines"\r\n"\'=HYPERLINK(""x"")",-5,12,2026-01-02T03:04:05.678Z\r\n,\'-1+1,\'@x,\r\n',
  );
});
