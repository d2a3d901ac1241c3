import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

/**
 * Nodes of the previous version run while a migration runs, and for a while after it. So a migration only adds, and
 * holds no lock for long. What it replaces is removed by one of a later version, whose name says so.
 */
const folder = join(import.meta.dirname, '../migrations');
/** Until here, all nodes were stopped for an update. */
const first = '0057';

type Rule = { forbidden: RegExp; instead: string };

/** Statements that break the previous version. A file named `NNNN_contract_…` may have them: its things are unused. */
const breaking: Rule[] = [
  {
    forbidden: /\bdrop (?!index concurrently if exists\b|policy\b|trigger\b|not null\b|default\b|constraint\b)/,
    instead: 'remove it in a contract',
  },
  { forbidden: /\brename\b/, instead: 'add the new name, write both, and remove the old one in a contract' },
  { forbidden: /\balter (?:column )?\w+ (?:set data )?type\b/, instead: 'add a column of the new type' },
  { forbidden: /\bset not null\b/, instead: 'add a check that is not valid, validate it, and set it in a contract' },
  { forbidden: /\brevoke\b/, instead: 'revoke it in a contract' },
];

/** Statements that hold a lock for a time that grows with the table. */
const locking: Rule[] = [
  {
    forbidden: /\bcreate (?:unique )?index (?!concurrently\b)/,
    instead: 'create it concurrently, in a file that begins with “-- Without a transaction.”',
  },
  {
    forbidden: /\badd (?:constraint \w+ )?(?:check|foreign key)\b(?![\s\S]*\bnot valid\b)/,
    instead: 'add it not valid, and validate it in a later statement',
  },
  { forbidden: /\badd (?:constraint \w+ )?(?:unique|primary key)\b(?! using)/, instead: 'build its index first' },
  { forbidden: /\block table\b|\bcluster\b|\bvacuum full\b/, instead: 'do without' },
];

const withoutComments = (text: string) =>
  text
    .replace(/--.*$/gm, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .toLowerCase();

/** The statements of a file; bodies of functions are not looked into. */
const statementsOf = (text: string): string[] =>
  withoutComments(text)
    .replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
    .filter(Boolean);

const madeHere = (statements: string[]): string[] =>
  statements.flatMap((statement) => /^create table (?:if not exists )?(\w+)/.exec(statement)?.[1] ?? []);

function faultsOf(name: string, text: string): string[] {
  const statements = statementsOf(text);
  const fresh = madeHere(statements);
  const rules = [...(/^\d{4}_contract_/.test(name) ? [] : breaking), ...locking];
  return statements.flatMap((statement) => {
    const table = /^(?:alter table|create (?:unique )?index(?: .*?)? on)(?: if exists)?(?: only)? (\w+)/.exec(
      statement,
    )?.[1];
    if (table && fresh.includes(table)) return []; // nobody uses it yet
    return rules
      .filter(({ forbidden }) => forbidden.test(statement))
      .map(({ instead }) => `${name}: “${statement.slice(0, 80)}”: ${instead}`);
  });
}

test('every migration → the previous version keeps working beside it', () => {
  const names = readdirSync(folder).filter((name) => /^\d{4}_.*\.sql$/.test(name) && name >= first);
  const faults = names.flatMap((name) => faultsOf(name, readFileSync(join(folder, name), 'utf8')));
  assert.deepEqual(faults, []);
});

test('statements that break or block the previous version are found, and no others', () => {
  const refused = [
    'alter table requests drop column memo',
    'alter table requests rename column memo to note',
    'alter table requests alter column memo type varchar(9)',
    'alter table requests alter column memo set not null',
    'drop function free_amount(text)',
    'create index requests_by_memo on requests (memo)',
    'alter table requests add constraint short check (length(memo) < 9)',
    'alter table requests add unique (memo)',
    'lock table requests',
  ];
  for (const statement of refused) assert.equal(faultsOf('0099_some.sql', statement).length, 1, statement);
  const accepted = [
    'alter table requests add column note text',
    'drop index concurrently if exists requests_by_memo; create index concurrently requests_by_memo on requests (memo)',
    'alter table requests add constraint short check (length(memo) < 9) not valid',
    'create table notes (id int); create index on notes (id); alter table notes add unique (id)',
    'create function f() returns int language sql as $$ drop table requests $$ -- drop table requests',
  ];
  for (const statement of accepted) assert.deepEqual(faultsOf('0099_some.sql', statement), [], statement);
  assert.deepEqual(faultsOf('0099_contract_memo.sql', 'alter table requests drop column memo'), []);
});
