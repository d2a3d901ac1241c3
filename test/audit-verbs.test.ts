import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { actions } from '../src/audit/actions.ts';

const files = globSync('src/**/*.ts').filter((file) => !/\.test\.ts$|^src\/(?:audit|texts|ui)\//.test(file));
const isCaller = (file: string) =>
  /^src\/(?:admin|portal|dashboard|checkout|cli|sandbox|http)\/|-pages\.ts$|\/pages\.ts$/.test(file);

/** The files that quote an action and write audit entries. */
function writersOf(action: string): string[] {
  return files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return text.includes(`'${action}'`) && /\b(?:audit|withAudit|withAuditIn)\(/.test(text);
  });
}

test('every action of the audit log is written by some verb', () => {
  const unwritten = Object.keys(actions).filter((action) => writersOf(action).length === 0);
  assert.deepEqual(unwritten, []);
});

test('each verb writes its own audit entry, whoever calls it: pages and commands write none', () => {
  const found = Object.keys(actions).flatMap((action) => {
    const pages = writersOf(action).filter(isCaller);
    return pages.length > 0 ? [[action, pages.sort()] as const] : [];
  });
  assert.deepEqual(found, []);
});
