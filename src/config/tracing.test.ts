import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTracing } from './tracing.ts';

function read(env: NodeJS.ProcessEnv) {
  const faults: string[] = [];
  return { tracing: readTracing(env, faults), faults };
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example/' };

test('OTEL_EXPORTER_OTLP_ENDPOINT › nothing is traced without it, whatever else is set', () => {
  assert.deepEqual(read({ OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'nonsense' }), { tracing: null, faults: [] });
});

test('OTEL_… › the standard settings, and what holds without them', () => {
  assert.deepEqual(read(endpoint), {
    tracing: {
      url: 'https://otel.example/v1/traces',
      headers: {},
      resource: { 'service.name': 'quittance' },
      sampler: { ratio: 1, parent: true },
    },
    faults: [],
  });
  const { tracing, faults } = read({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-team=tills',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=live',
    OTEL_SERVICE_NAME: 'tills',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.05',
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(tracing?.headers, { authorization: 'Bearer abc', 'x-team': 'tills' });
  assert.deepEqual(tracing?.resource, { 'deployment.environment.name': 'live', 'service.name': 'tills' });
  assert.deepEqual(tracing?.sampler, { ratio: 0.05, parent: false });
  assert.deepEqual(read({ ...endpoint, OTEL_TRACES_SAMPLER: 'parentbased_always_off' }).tracing?.sampler, {
    ratio: 0,
    parent: true,
  });
});

test('OTEL_… › each wrong value is named, and no header’s value', () => {
  for (const address of [
    'otel.example:4318',
    'grpc://otel.example',
    'https://me:secret@otel.example',
    'https://:secret@otel.example',
    'http://a/?x=1',
  ])
    assert.match(read({ OTEL_EXPORTER_OTLP_ENDPOINT: address }).faults.join(), /^OTEL_EXPORTER_OTLP_ENDPOINT must/);
  const wrong = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization: s3cret',
    OTEL_RESOURCE_ATTRIBUTES: 'a=%zz',
    OTEL_TRACES_SAMPLER: 'jaeger_remote',
    OTEL_TRACES_SAMPLER_ARG: '2',
  };
  for (const [name, value] of Object.entries(wrong)) {
    const sampled = name === 'OTEL_TRACES_SAMPLER_ARG' ? { OTEL_TRACES_SAMPLER: 'traceidratio' } : {};
    const { faults } = read({ ...endpoint, ...sampled, [name]: value });
    assert.equal(faults.length, 1, name);
    assert.ok(faults[0]?.startsWith(`${name} must be`), faults[0]);
    assert.ok(!faults[0]?.includes('s3cret'));
  }
});
