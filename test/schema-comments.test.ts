import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/**
 * Whoever reads the schema, or a table in psql, learns there what it holds. A name says what a text or a date is; it does
 * not say what a number counts or in which unit, nor what bytes or a document contain.
 */
const schema = readFileSync('migrations/schema.sql', 'utf8');
const tables = [...schema.matchAll(/^(-- [^\n]+\n)?create table (\w+) \(\n(.*?)\n\)/gms)];
const opaque = /^(numeric|bigint|integer|bytea|jsonb?)/;

test('every table has a comment that says what a row is', () => {
  const silent = tables.filter(([, comment]) => !comment).map(([, , name]) => name);
  assert.ok(tables.length > 50);
  assert.deepEqual(silent, [], 'add `comment on table … is` to the migration');
});

test('every number, and every column of bytes or JSON, has a comment that says what it holds', () => {
  const silent = tables.flatMap(([, , name, body = '']) =>
    [...body.matchAll(/^( {2}-- .+\n)? {2}(\w+) (.+)$/gm)]
      .filter(([, comment, column = '', type = '']) => !comment && column !== 'chain_id' && opaque.test(type))
      .map(([, , column]) => `${name}.${column}`),
  );
  assert.deepEqual(silent, [], 'add `comment on column … is` to the migration');
});
