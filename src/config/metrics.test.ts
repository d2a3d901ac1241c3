import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMetrics } from './metrics.ts';

function read(env: Record<string, string>) {
  const faults: string[] = [];
  return { ...readMetrics(env, 3000, faults), faults };
}

const token = 'x'.repeat(24);

test('METRICS_HOST, METRICS_PORT and METRICS_TOKEN › no listener by default; on loopback by default', () => {
  assert.deepEqual(read({}), { host: '127.0.0.1', port: null, token: null, faults: [] });
  assert.deepEqual(read({ METRICS_PORT: '9464' }), { host: '127.0.0.1', port: 9464, token: null, faults: [] });
  const all = { METRICS_HOST: '10.0.0.5', METRICS_PORT: '9464', METRICS_TOKEN: token };
  assert.deepEqual(read(all), { host: '10.0.0.5', port: 9464, token, faults: [] });
});

test('METRICS_HOST, METRICS_PORT and METRICS_TOKEN › faults are reported without the token', () => {
  for (const METRICS_PORT of ['0', '65536', '1.5', 'x', '3000']) {
    assert.match(read({ METRICS_PORT }).faults.join(), /^METRICS_PORT must/, METRICS_PORT);
  }
  assert.match(read({ METRICS_HOST: '10.0.0.5' }).faults.join(), /^METRICS_HOST needs METRICS_PORT$/);
  for (const METRICS_TOKEN of ['short', `${token} ${token}`, 'ü'.repeat(30)]) {
    const faults = read({ METRICS_TOKEN }).faults.join();
    assert.match(faults, /^METRICS_TOKEN must/);
    assert.ok(!faults.includes(METRICS_TOKEN));
  }
});
