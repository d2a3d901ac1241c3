import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodingFor } from './encodings.ts';

test('the smallest encoding that is accepted is taken; a weight of zero refuses', () => {
  for (const [accepted, encoding] of [
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['GZIP;q=1.0', 'gzip'],
    ['br; q=0.000', 'identity'],
    ['brotli, x-gzip', 'identity'],
    ['', 'identity'],
    [undefined, 'identity'],
  ] as const) {
    assert.equal(encodingFor(accepted), encoding, accepted);
  }
});
