import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Ajv } from 'ajv';
import { withoutReferences } from '../../src/http/api-schemas.ts';
import { startApp } from '../support/app.ts';
import { makeKey, makeMerchant, makePartner, setRate } from '../support/fixtures.ts';

type Header = { required?: boolean; schema: object };
type Responses = Record<string, { headers?: Record<string, Header> }>;
type Document = { paths: Record<string, Record<string, { responses: Responses }>> };

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ajv = new Ajv({ formats: { uuid } });
let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
  await setRate(app.db, 'EUR', '0.92');
});
after(() => app.stop());

/** Headers of the connection and of the body, which OpenAPI leaves to HTTP. */
const ofTransport = ['connection', 'content-length', 'content-type', 'date', 'keep-alive'];

test('GET /openapi.json › it describes exactly the headers that responses have', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const { key } = await makeKey(app.db, scope);
  const { key: reader } = await makeKey(app.db, scope, ['requests:read']);
  const json = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const path = '/api/v1/requests/create';
  const body = JSON.stringify({ account_id: merchant.id, fiat_amount_int: 1250, idempotency_key: 'h'.repeat(32) });
  const post = { method: 'POST', headers: json };
  const calls: [status: number, call: RequestInit][] = [
    [201, { ...post, body }],
    [200, { ...post, body }],
    [400, { ...post, body: '{' }],
    [401, { ...post, headers: { 'content-type': 'application/json' }, body }],
    [403, { ...post, headers: { ...json, authorization: `Bearer ${reader}` }, body }],
    [404, { ...post, body: JSON.stringify({ account_id: randomUUID(), fiat_amount_int: 1 }) }],
    [413, { ...post, body: JSON.stringify({ memo: 'x'.repeat(130 * 1024) }) }],
    [415, { ...post, headers: { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }, body }],
    [431, { ...post, headers: { ...json, 'x-long': 'x'.repeat(17 * 1024) }, body }],
  ];
  const served = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document;
  const responses = withoutReferences(served).paths[path]?.post?.responses ?? {};
  for (const [status, call] of calls) {
    const answer = await fetch(app.url + path, call);
    await answer.arrayBuffer();
    assert.equal(answer.status, status);
    const described = Object.entries(responses[status]?.headers ?? {});
    const names = [...answer.headers.keys()].filter((name) => !ofTransport.includes(name));
    const unknown = names.filter((name) => !described.some(([known]) => known === name));
    assert.deepEqual(unknown, [], `${status}: headers that the document does not have`);
    for (const [name, { required, schema }] of described) {
      const value = answer.headers.get(name);
      if (value === null) assert.ok(!required, `${status} has no ${name}`);
      else assert.ok(ajv.validate(schema, value), `${status} ${name}: ${ajv.errorsText()}`);
    }
  }
});
