import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { sqlOfSources } from '../support/sql-in-use.ts';

/**
 * The tables of docs/scaling.md name every feature of PostgreSQL that is in use, with what the engine that we would grow
 * to says of it. They are compared with the schema and with the statements of the sources, word by word: which words are
 * PostgreSQL's is asked of the server.
 */
const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const schema = read('migrations/schema.sql');

let fixtures: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  fixtures = await testDatabase();
});
after(() => fixtures?.drop());

/** SQL without comments, strings and quoted names, in lower case; strings that are run stay. */
const bare = (text: string) =>
  text
    .replace(/\bexecute (?:format\()?'((?:[^']|'')*)'/gi, 'execute $1')
    .replace(/--.*$/gm, ' ')
    .replace(/E?'(?:[^']|'')*'/g, "''")
    .replace(/"[^"]*"/g, ' ')
    .toLowerCase();

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, word]) => word ?? '');

/** The words of a text that belong to PostgreSQL. */
async function wordsOf(text: string): Promise<string[]> {
  const names = async (query: string) => new Set((await fixtures.owner.unsafe(query)).map((row) => String(row.word)));
  const keywords = await names('select word from pg_get_keywords()');
  const functions = await names(`
    select proname as word from pg_proc p where pronamespace = 'pg_catalog'::regnamespace
      or exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`);
  const named = await names(`
    select typname as word from pg_type
      where typnamespace = 'pg_catalog'::regnamespace and typtype <> 'c' and typcategory <> 'A'
    union select relname from pg_class where relnamespace = 'pg_catalog'::regnamespace
    union select attname from pg_attribute where attrelid = 'pg_class'::regclass and attnum < 0 and attname <> 'tableoid'`);
  return [
    ...all(text, /(?<![\w$%@:])([a-z_]\w*)/g).filter((word) => keywords.has(word) || named.has(word)),
    ...all(text, /::\s?([a-z_]\w*)/g).filter((word) => named.has(word)),
    ...all(text, /(?<![\w$])([a-z_]\w*)\(/g).filter((word) => functions.has(word)),
    ...all(text, /([-+*<>=~!@#%^&|?/]+)/g),
    ...all(text, /\bcreate extension (\w+)/g),
    ...all(text, /\busing (\w+) \(/g).filter((method) => !/^[a-z]$/.test(method)),
    ...all(text, /\b(\w+_ops)\b/g),
    ...all(text, /\bwith \((\w+)=/g),
  ];
}

/** The rows of the table below a heading of docs/scaling.md: their cells, without the head of the table. */
function rowsBelow(heading: string): string[][] {
  const section = read('docs/scaling.md').split(`\n### ${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** The texts in backticks; a table writes bars in them escaped. */
const quoted = (cell = '') => all(cell, /`([^`]+)`/g).map((word) => word.replaceAll('\\|', '|'));

const listed = 'Every feature in use';
const excluded = 'What YugabyteDB excludes';

test('a word of PostgreSQL that no feature of the list has → refused, until somebody has weighed it', async () => {
  const used = new Set(await wordsOf(bare([schema, ...sqlOfSources()].join('\n;\n'))));
  const known = new Set(rowsBelow(listed).flatMap(([, words]) => quoted(words)));
  const unknown = [...used].filter((word) => !known.has(word)).sort();
  assert.deepEqual(
    unknown,
    [],
    'weigh these for YugabyteDB, and add them to “Every feature in use” of docs/scaling.md',
  );
  const gone = rowsBelow(listed).filter(([, words]) => !quoted(words).some((word) => used.has(word)));
  assert.deepEqual(gone, [], 'nothing uses these any more: take them out of “Every feature in use” of docs/scaling.md');
});

test('each feature of the list → its verdict for both engines begins with yes, slow, flag or no', () => {
  const rows = rowsBelow(listed);
  assert.ok(rows.length > 20);
  for (const [feature, , yugabyte, citus] of rows) {
    assert.match(`${yugabyte}`, /^(yes|slow|flag)\b/, `${feature}: what YugabyteDB excludes has a table of its own`);
    assert.match(`${citus}`, /^(yes|slow|flag|no)\b/, feature);
  }
});

/** Where the schema uses what YugabyteDB refuses, by the feature as docs/scaling.md names it. */
const excludedUses: Record<string, (text: string) => string[]> = {
  'Triggers at commit': (text) => all(text, /^create constraint trigger (\w+)/gm),
  'Triggers that see all rows of a statement': (text) => all(text, /^create trigger (\w+) [^;\n]* referencing /gm),
  'Keys checked at commit': (text) => all(text, /constraint (\w+) (?:unique|primary key)[^,\n]*\) deferrable/g),
  'GIN indexes of several columns': (text) =>
    all(text, /^create index (\w+) on \S+ using gin \((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*,/gm),
  'Storage parameters of indexes': (text) => all(text, /^create (?:unique )?index (\w+) [^;\n]*\) with \(/gm),
  'Types copied from columns': (text) => all(text, /(\w+(?:\.\w+)?)%(?:row)?type/g),
};

test('a feature that YugabyteDB excludes → only in the places of the schema that the list names', () => {
  const text = schema.replace(/--.*$/gm, '').toLowerCase();
  const rows = Object.fromEntries(rowsBelow(excluded).map(([feature, places]) => [feature, quoted(places)]));
  assert.deepEqual(Object.keys(rows).sort(), Object.keys(excludedUses).sort());
  for (const [feature, find] of Object.entries(excludedUses)) {
    assert.deepEqual(find(text).sort(), rows[feature]?.sort(), feature);
  }
});

test('indexes over lists, JSON and addresses, other than GIN → none', async () => {
  const found = await fixtures.owner`
    select distinct c.relname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am m on m.oid = c.relam
      join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
    where c.relnamespace = 'public'::regnamespace and m.amname <> 'gin'
      and (t.typcategory in ('A', 'I', 'C', 'G') or t.typname in ('json', 'jsonb', 'tsvector', 'xml'))`;
  assert.deepEqual([...found], []);
});

test('features that are excluded or not listed → found', async () => {
  const words = await wordsOf(
    bare('select ctid from a tablesample system (1); merge into a using b on true; create index on a using brin (b)'),
  );
  for (const word of ['ctid', 'tablesample', 'system', 'merge', 'brin']) assert.ok(words.includes(word), word);
  const gin = excludedUses['GIN indexes of several columns']?.('create index two on public.a using gin (lower(b), c)');
  assert.deepEqual(gin, ['two']);
});
