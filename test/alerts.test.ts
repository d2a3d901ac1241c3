import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alarmKinds } from '../src/db/alarm-kinds.ts';

const rules = readFileSync(join(import.meta.dirname, '../ops/alerts.yaml'), 'utf8');

test('each alarm of the service has a rule in ops/alerts.yaml that says what to do, and no rule is about another', () => {
  const parts = rules.split('- alert: ').slice(1);
  for (const part of parts) assert.match(part, /^Quittance\w+\n[\s\S]*summary: .+\.\n[\s\S]*action: .+\./);
  const kinds = parts.flatMap((part) => /quittance_alarms\{kind="([^"]+)"\}/.exec(part)?.[1] ?? []);
  const known = alarmKinds.filter((kind) => kind !== 'other').sort();
  assert.deepEqual(kinds.toSorted(), known);
  const unknown = /quittance_alarms\{kind!~"([^"]+)"\}/.exec(rules)?.[1];
  assert.deepEqual(unknown?.split('|').sort(), known, 'the rule for alarms of a later version');
});
