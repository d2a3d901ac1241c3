import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { alarmKinds, knownAlarm } from '../../src/db/alarm-kinds.ts';
import { raiseAlarm } from '../../src/db/alarms.ts';
import { ApiClient, send } from '../support/api/client.ts';
import { testRelayerKey } from '../support/chain/relayer.ts';
import { nodeFixtures, twoChains } from '../support/nodes.ts';
import { endAll, startService } from '../support/service.ts';
import { until } from '../support/until.ts';

type Panel = {
  type: string;
  title: string;
  description?: string;
  fieldConfig?: { defaults: { unit?: string } };
  targets?: { expr: string; legendFormat: string }[];
};

const ops = (name: string) => readFileSync(join(import.meta.dirname, '../../ops', name), 'utf8');
const panels = (JSON.parse(ops('grafana-dashboard.json')) as { panels: Panel[] }).panels.filter(
  ({ type }) => type !== 'row',
);
const rules = ops('alerts.yaml').split('- alert: ').slice(1);

/** The labels of each metric of a running service, by the metric's name. */
let told: Map<string, Set<string>>;
before(async () => {
  const chains = await twoChains();
  const fixtures = await nodeFixtures(chains);
  try {
    for (const kind of alarmKinds)
      await raiseAlarm(fixtures.db.sql, knownAlarm({ kind, subject: '31337', details: { chainId: 31337 } }));
    const token = 't'.repeat(24);
    // No standby, but its figure is there.
    const reader = { DATABASE_READ_URL: fixtures.env.DATABASE_URL };
    const env = { ...fixtures.env, ...reader, RELAYER_KEYS: testRelayerKey, METRICS_TOKEN: token };
    const service = await startService(env);
    await new ApiClient(fixtures.db, service.url, fixtures.scope).list();
    let text = '';
    await until(async () => {
      text = (await send(service.url, 'GET', '/metrics', { headers: { authorization: `Bearer ${token}` } })).text;
      return ['quittance_relayer_balance_wei{', 'quittance_chain_lag_blocks{', 'nodejs_gc_duration_seconds_sum{'].every(
        (start) => text.includes(`\n${start}`),
      );
    }, 'all metrics to have a value');
    told = labelsOf(text);
  } finally {
    await endAll();
    await fixtures.drop();
    await chains.stop();
  }
});
function labelsOf(text: string): Map<string, Set<string>> {
  const all = new Map<string, Set<string>>();
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = /^([a-z_]\w*)(?:\{(.*)\})? /.exec(line) ?? [];
    if (!name) continue;
    const known = all.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    all.set(name, known);
  }
  return all;
}

/** The labels that Prometheus adds. */
const added = ['job', 'instance'];

/** Fails if an expression, or a text about its result, names a metric or label that the service does not have. */
function assertTold(expr: string, labelsSaid: string[]): void {
  const names = [...expr.matchAll(/\b(?:quittance|nodejs|process)_\w+|\bup\b/g)].map(([name]) => name);
  assert.ok(names.length > 0, `no metric in ${expr}`);
  const labels = new Set(added);
  for (const name of names) {
    if (name === 'up') continue; // Prometheus's own
    const own = told.get(name);
    assert.ok(own, `no metric ${name}: ${expr}`);
    for (const label of own) labels.add(label);
    const matchers = new RegExp(`\\b${name}\\{([^}]*)\\}`).exec(expr)?.[1] ?? '';
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      assert.ok(own.has(label) || added.includes(label), `${name} has no label ${label}`);
  }
  const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(/,\s*/);
  for (const label of kept ?? []) assert.ok(labels.has(label), `no label ${label}: ${expr}`);
  for (const label of labelsSaid) assert.ok(kept ? kept.includes(label) : labels.has(label), `${label} of ${expr}`);
}

test('the dashboard › each panel has a title, a unit and a description, and uses metrics that the service has', () => {
  assert.ok(panels.length >= 15);
  assert.equal(new Set(panels.map(({ title }) => title)).size, panels.length);
  for (const { title, description, fieldConfig, targets = [] } of panels) {
    assert.match(title, /^[A-Z]\S* ?\S/);
    assert.match(description ?? '', /^[\dA-Z].{20,}\.$/, title);
    assert.ok(fieldConfig?.defaults.unit, title);
    assert.ok(targets.length > 0, title);
    for (const { expr, legendFormat } of targets)
      assertTold(
        expr,
        [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label),
      );
  }
});

test('the alert rules › each uses metrics that the service has', () => {
  for (const rule of rules) {
    const expr = /\bexpr: (.+)$/m.exec(rule)?.[1] ?? '';
    assertTold(
      expr,
      [...rule.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
    );
  }
});

test('ops/grafana-dashboard.json shows every metric of the service', () => {
  const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
  const own = [...told.keys()]
    .filter((name) => name.startsWith('quittance_'))
    .map((name) => name.replace(/_(?:bucket|sum|count)$/, ''));
  for (const name of new Set(own)) assert.ok(shown.includes(name), name);
});
