import { globSync, readFileSync } from 'node:fs';

/** The names before templates that contain SQL or a part of a statement. */
const ofSql = new Set(['sql', 'tx', 'owner', 'unsafe', 'inner', 'query']);

type Piece = { tag: string; text: string };

/** The name before a template: `sql` for ``ctx.db.sql<Row[]>`…` ``, `unsafe` for ``tx.unsafe(`…`)``. */
function tagBefore(source: string, at: number): string {
  let end = at;
  if (source[end - 1] === '>') {
    let depth = 0;
    do {
      end--;
      if (source[end] === '>' && source[end - 1] !== '=') depth++;
      if (source[end] === '<') depth--;
    } while (depth > 0 && end > 0);
  }
  return /(\w+)\(?$/.exec(source.slice(Math.max(0, end - 60), end))?.[1] ?? '';
}

/** The end of a comment, a string or a regular expression that begins at `at`; `at` itself if none begins there. */
function afterPlain(source: string, at: number): number {
  const comment = /^(?:\/\/.*|\/\*[\s\S]*?\*\/)/.exec(source.slice(at, at + 5_000))?.[0];
  if (comment) return at + comment.length;
  const string = /^(?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")/.exec(source.slice(at, at + 2_000))?.[0];
  if (string) return at + string.length;
  if (source[at] !== '/' || !/(?:[(,=:[!&|?{};>]|\breturn)\s*$/.test(source.slice(Math.max(0, at - 40), at))) return at;
  const expression = /^\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//.exec(source.slice(at, at + 2_000))?.[0];
  return at + (expression?.length ?? 0);
}

/** Collects the templates of code from `at` until its brace closes, or its end. */
function collect(source: string, at: number, found: Piece[]): number {
  let depth = 1;
  let i = at;
  while (i < source.length) {
    const after = afterPlain(source, i);
    if (after > i) {
      i = after;
      continue;
    }
    if (source[i] === '`') {
      i = collectTemplate(source, i, found);
      continue;
    }
    if (source[i] === '{') depth++;
    if (source[i] === '}' && --depth === 0) return i + 1;
    i++;
  }
  return i;
}

function collectTemplate(source: string, at: number, found: Piece[]): number {
  let text = '';
  let i = at + 1;
  while (source[i] !== '`') {
    if (i >= source.length) throw new Error(`a template does not end: ${source.slice(at, at + 60)}`);
    if (source.startsWith('${', i)) {
      i = collect(source, i + 2, found);
      text += ' ? ';
    } else {
      text += source[i] === '\\' ? source.slice(i, i + 2) : source[i];
      i += source[i] === '\\' ? 2 : 1;
    }
  }
  found.push({ tag: tagBefore(source, at), text });
  return i + 1;
}

/** Texts for the server that are written as ordinary strings: `text: 'begin'`, `unsafe('…')`. */
const asString = /(?:unsafe\(|\btext: |\bfirst: |query\()'((?:[^'\\\n]|\\.)*)'/g;
const isStatement = /^\s*(?:select|insert into|delete from|with \w+ as|update \w+ set|alter|create|grant|revoke)\s/;

/** The SQL in the service's sources: statements and parts of them, with values written as `?`. */
export function sqlOfSources(): string[] {
  const files = globSync('src/**/*.ts', { exclude: ['src/islands/**', 'src/texts/**'] });
  return files
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => {
      const source = readFileSync(file, 'utf8');
      const pieces: Piece[] = [];
      collect(source, 0, pieces);
      const templates = pieces.filter(({ tag, text }) => ofSql.has(tag) || (tag !== 'html' && isStatement.test(text)));
      return [...templates.map(({ text }) => text), ...[...source.matchAll(asString)].map(([, text]) => text ?? '')];
    });
}
