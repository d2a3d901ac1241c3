import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { alarmKinds } from '../src/db/alarm-kinds.ts';

const root = join(import.meta.dirname, '..');
const rules = readFileSync(join(root, 'ops/alerts.yaml'), 'utf8');

test('ops/alerts.yaml is YAML, and each rule says in a sentence what is wrong and what to do', () => {
  const { groups } = parse(rules) as { groups: { rules: { alert: string; annotations: Record<string, unknown> }[] }[] };
  const all = groups.flatMap((group) => group.rules);
  assert.equal(all.length, rules.split('- alert: ').length - 1);
  for (const { alert, annotations } of all)
    for (const name of ['summary', 'action']) assert.match(String(annotations[name]), /^[A-Z`].+\.$/, alert);
});

for (const path of ['compose.yaml', 'ops/ha/etcd.yml', 'ops/ha/patroni.yml'])
  test(`${path} is YAML`, () => assert.equal(typeof parse(readFileSync(join(root, path), 'utf8')), 'object'));

test('each alarm of the service has a rule in ops/alerts.yaml that says what to do, and no rule is about another', () => {
  const parts = rules.split('- alert: ').slice(1);
  for (const part of parts) assert.match(part, /^Quittance\w+\n[\s\S]*summary: .+\.\n[\s\S]*action: .+\./);
  const kinds = parts.flatMap((part) => /quittance_alarms\{kind="([^"]+)"\}/.exec(part)?.[1] ?? []);
  const known = alarmKinds.filter((kind) => kind !== 'other').sort();
  assert.deepEqual(kinds.toSorted(), known);
  const unknown = /quittance_alarms\{kind!~"([^"]+)"\}/.exec(rules)?.[1];
  assert.deepEqual(unknown?.split('|').sort(), known, 'the rule for alarms of a later version');
});

test('what any program may report, such as a busy event loop → the rules ask for it from our nodes alone', () => {
  const { groups } = parse(rules) as { groups: { rules: { alert: string; expr: string }[] }[] };
  const selectors = groups
    .flatMap((group) => group.rules)
    .flatMap(({ alert, expr }) =>
      [...expr.matchAll(/\b(\w+)(\{[^}]*\}|\[|(?= [<>=]))/g)].map((found) => ({ alert, found })),
    );
  const foreign = selectors.filter(({ found: [, name = ''] }) => !name.startsWith('quittance_'));
  assert.ok(foreign.length > 0);
  for (const { alert, found } of foreign) assert.match(found[2] ?? '', /job="quittance"/, alert);
});
