import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readProxyHeaders } from './calls.ts';

const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

test('readProxyHeaders › an id and a traceparent as they should be', () => {
  assert.deepEqual(readProxyHeaders({ 'x-request-id': 'edge-7/A.b_c', traceparent: `00-${traceId}-${spanId}-01` }), {
    proxyId: 'edge-7/A.b_c',
    parent: { traceId, spanId, isSampled: true },
  });
  const { parent } = readProxyHeaders({ traceparent: `00-${traceId}-${spanId}-00` });
  assert.equal(parent?.isSampled, false);
});

test('readProxyHeaders › anything else is passed over', () => {
  const ids = ['', 'a b', 'x'.repeat(129), 'a,b', 'é', '{"a":1}', 'a\u0000', 'one, two'];
  for (const id of ids) assert.equal(readProxyHeaders({ 'x-request-id': id }).proxyId, null, id);
  const parents = [
    ...[`01-${traceId}-${spanId}-01`, `00-${traceId.toUpperCase()}-${spanId}-01`, `00-${traceId}-${spanId}`],
    ...[`00-${'0'.repeat(32)}-${spanId}-01`, `00-${traceId}-${'0'.repeat(16)}-01`, `00-${traceId}-${spanId}-01-x`],
    ...[`00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`, 'nonsense', ''],
  ];
  for (const traceparent of parents) assert.equal(readProxyHeaders({ traceparent }).parent, null, traceparent);
});
