import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstVisible } from './visible.ts';

test('the first text that shows something → unchanged; spaces, marks without width and empty letters show nothing', () => {
  assert.equal(
    firstVisible(null, undefined, '', ' \n', '\u200b\u2060', '\u3164', '\u2800', '\u{e0020}', ' Ada ', 'Bo'),
    ' Ada ',
  );
  for (const name of ['0', '東京', 'متجر', '👩‍🍳', '.', '\u200bÅ']) assert.equal(firstVisible('', name), name);
  assert.equal(firstVisible('', '\u00ad'), null);
});
