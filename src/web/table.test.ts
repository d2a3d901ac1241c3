import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../ui/language.ts';
import { actionsColumn, table } from './table.ts';

test('a column of buttons → screen readers have its heading, and nobody sees it, on a phone neither', () => {
  const { text } = table<string>(
    'Keys',
    [{ name: 'Name', cell: (row) => row }, actionsColumn(wordsOf('de'), () => 'Delete')],
    ['first'],
  );
  assert.match(text, /<th scope="col">Name<\/th>\s*<th scope="col"><span class="hidden">Aktionen<\/span><\/th>/);
  assert.match(text, /<td data-name="">Delete<\/td>/);
});
