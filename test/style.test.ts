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

test('styles name no left or right side, which is the other one in Arabic, but for what runs from the left everywhere', () => {
  const sided = globSync('src/ui/*.css').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/([^{}]+)\{([^{}]*)\}/g)]
      .filter(([, , rules = '']) => !/direction: ltr/.test(rules))
      .flatMap(([, selector = '', rules = '']) =>
        rules.split(';').flatMap((rule) => {
          const [name = '', value = ''] = rule.split(':').map((part) => part.trim());
          const [, right, , left] = value.replace(/\((?:[^()]|\([^()]*\))*\)/g, '').split(' ');
          const isSided =
            /(^|-)(left|right)$/.test(name) ||
            (name === 'text-align' && /left|right/.test(value)) ||
            (/^(margin|padding|inset)$/.test(name) && left !== undefined && left !== right);
          return isSided ? [`${file}: ${selector.trim()} { ${rule.trim()} }`] : [];
        }),
      ),
  );
  assert.deepEqual(sided, []);
});
