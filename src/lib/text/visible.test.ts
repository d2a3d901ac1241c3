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

test('control characters, and all that a font shows nothing for → show nothing', () => {
  // PostgreSQL knows no classes such as \p{Default_Ignorable_Code_Point}, so the characters are listed.
  const unlisted: string[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    if (/[\p{DI}\p{Cc}\p{White_Space}]/u.test(character) && firstVisible(character) !== null)
      unlisted.push(code.toString(16));
  }
  assert.deepEqual(unlisted, []);
});
