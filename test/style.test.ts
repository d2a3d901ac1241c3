import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const maxCharacters = 120;
/** Long strings: a sentence, attribute, signature or expression is harder to read and to search for in pieces. */
const inOnePiece = [/(['"`])(?:(?!\1).){60,}\1/, /`[^`]{60,}$/];

const isComment = (line: string) => /^\s*(\/\*\*|\*|\/\/) /.test(line);

test('in files of pages no line is longer than 120 characters, but for a long string, and elsewhere no comment is', () => {
  const tooLong = (line: string) =>
    line.replaceAll('\\`', '`').length > maxCharacters && !inOnePiece.some((piece) => piece.test(line));
  const long = globSync('src/**/*.ts')
    .filter((file) => !file.includes('/texts/'))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const isPage = text.includes('html`');
      return text
        .split('\n')
        .flatMap((line, i) => ((isPage || isComment(line)) && tooLong(line) ? [`${file}:${i + 1}`] : []));
    });
  assert.deepEqual(long, []);
});
