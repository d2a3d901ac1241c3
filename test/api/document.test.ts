import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { get as httpGet, type IncomingHttpHeaders } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { breakingChanges, type OpenApi } from '../../src/cli/api-changes.ts';
import { errors } from '../../src/errors.ts';
import { withoutReferences } from '../../src/http/api-schemas.ts';
import { newSecret, signedHeaders } from '../../src/webhooks/sign.ts';
import { startApp } from '../support/app.ts';
import { makeKey, makeMerchant, makePartner, setRate } from '../support/fixtures.ts';

type Media = { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> };
type Content = { content?: { 'application/json'?: Media } };
type Operation = { operationId: string; requestBody?: Content; responses: Record<string, Content> };
type Webhooks = Record<'payment.proof_verified', { post: { parameters: { name: string }[] } }>;
type Document = { openapi: string; paths: Record<string, Record<string, Operation>>; webhooks: object };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const isUri = (text: string) => URL.canParse(text) && /^[\x21-\x7e]+$/.test(text);
const ajv = new Ajv({ strict: false, formats: { uuid, 'date-time': instant, uri: isUri } });
let app: Awaited<ReturnType<typeof startApp>>;
/** As it is served, and with its references written out. */
let served: Document;
let document: Document;
before(async () => {
  app = await startApp();
  served = (await (await fetch(`${app.url}/openapi.json`)).json()) as Document;
  document = withoutReferences(served);
});
after(() => app.stop());

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));
const schemaOf = (content: Content | undefined) => content?.content?.['application/json']?.schema;

test('GET /openapi.json › 3.1, with the seven endpoints and the webhook', () => {
  assert.match(document.openapi, /^3\.1\./);
  const names = operations().map(({ operationId }) => operationId);
  assert.deepEqual(names.sort(), [
    'cancelRequest',
    'createMerchant',
    'createRequest',
    'getMerchant',
    'getRequest',
    'listMerchants',
    'listRequests',
  ]);
  assert.ok('payment.proof_verified' in document.webhooks);
});

test('GET /openapi.json › a description says what a value is, not how an error about it ends', () => {
  const texts = [...JSON.stringify(served).matchAll(/"description":"([^"]{0,80})/g)].map(([, text]) => String(text));
  assert.ok(texts.includes('A UUID (8-4-4-4-12 hexadecimal digits).'));
  assert.deepEqual(
    texts.filter((text) => text.startsWith('must ')),
    [],
  );
});

/** Each field in a schema and its parts, with where it is. */
function* fieldsOf(schema: Field, where: string): Generator<[string, Field]> {
  for (const part of schema.anyOf ?? []) yield* fieldsOf(part, where);
  if (schema.items) yield* fieldsOf(schema.items, where);
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield [`${where}.${name}`, field];
    yield* fieldsOf(field, `${where}.${name}`);
  }
}
type Field = {
  description?: string;
  $ref?: string;
  type?: string;
  anyOf?: Field[];
  items?: Field;
  properties?: Record<string, Field>;
};

test('GET /openapi.json › every field, parameter and header says what it is, and one that can be null says when', () => {
  const { schemas } = (served as unknown as { components: { schemas: Record<string, Field> } }).components;
  const descriptionOf = ({ description, $ref = '' }: Field) =>
    description ?? schemas[$ref.split('/').at(-1) ?? '']?.description ?? '';
  const fields = Object.entries(schemas).flatMap(([name, schema]) => [...fieldsOf(schema, name)]);
  assert.ok(fields.length > 80, `${fields.length}`);
  const lists = operations().flatMap((operation) => (operation as { parameters?: object[] }).parameters ?? []);
  const parameters = [...lists, ...(document.webhooks as Webhooks)['payment.proof_verified'].post.parameters];
  for (const parameter of parameters as (Field & { name: string })[]) fields.push([parameter.name, parameter]);
  assert.deepEqual(
    fields.filter(([, field]) => !descriptionOf(field).endsWith('.')).map(([where]) => where),
    [],
  );
  const merchant = (parameters as (Field & { name: string })[]).find(({ name }) => name === 'account_id');
  assert.equal(merchant?.description, 'Only requests of this merchant. A UUID (8-4-4-4-12 hexadecimal digits).');
  assert.doesNotMatch(JSON.stringify(served), /undefined/);
  const nullable = fields.filter(([, field]) => field.anyOf?.some(({ type }) => type === 'null'));
  assert.ok(nullable.length > 15);
  // The currency is always known; its type is the specification's.
  assert.deepEqual(
    nullable.filter(([, { description = '' }]) => !/\bnull\b/i.test(description)).map(([where]) => where),
    ['Merchant.display_currency'],
  );
});

test('GET /openapi.json › the webhook has every header that a delivery is signed with', () => {
  const sent = signedHeaders({ deliveryId: randomUUID(), event: 'x', body: '{}' }, newSecret(), null, new Date());
  const { parameters } = (document.webhooks as Webhooks)['payment.proof_verified'].post;
  const listed = parameters.map(({ name }) => name);
  const signed = Object.keys(sent).filter((name) => /^(x-service|webhook)-/.test(name));
  assert.deepEqual(listed.sort(), signed.sort());
});

test('GET /openapi.json › every body has an example that keeps its own contract', () => {
  for (const { operationId, requestBody, responses } of operations()) {
    for (const content of [requestBody, ...Object.values(responses)]) {
      const media = content?.content?.['application/json'];
      if (!media) continue;
      const example = media.example ?? Object.values(media.examples ?? {})[0]?.value;
      assert.ok(example, `${operationId} has no example`);
      assert.ok(ajv.validate(media.schema, example), `${operationId}: ${ajv.errorsText()}`);
    }
  }
});

test('GET /openapi.json › every object has its own name', () => {
  const names = Object.keys((served as unknown as { components: { schemas: object } }).components.schemas);
  assert.deepEqual(names, [
    'Amount',
    'Error',
    'Merchant',
    'MerchantList',
    'Metadata',
    'NewMerchant',
    'NewPaymentRequest',
    'PaymentProofVerified',
    'PaymentRequest',
    'PaymentRequestList',
  ]);
});

test('GET /openapi.json › every enumeration has a type, and IDs, times and links have their formats', () => {
  const untyped: string[] = [];
  const formats = new Map<string, unknown>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== 'object' || value === null) return;
    const { enum: words, const: word, type, format } = value as Record<string, unknown>;
    if ((Array.isArray(words) || typeof word === 'string') && typeof type !== 'string') untyped.push(path);
    if (format) formats.set(path, format);
    for (const [key, part] of Object.entries(value)) walk(part, `${path}/${key}`);
  };
  const { components, webhooks } = served as unknown as { components: { schemas: object }; webhooks: object };
  walk({ ...components.schemas, paths: served.paths, webhooks }, '');
  assert.deepEqual(untyped, []);
  const formatOf = (path: string) => formats.get(path.replace('.', '/properties/').replace(/^/, '/'));
  for (const id of ['PaymentRequest.request_id', 'Merchant.account_id', 'PaymentProofVerified.delivery_id'])
    assert.equal(formatOf(id), 'uuid', id);
  for (const time of ['PaymentRequest.created_at', 'Merchant.created_at', 'PaymentProofVerified.timestamp'])
    assert.equal(formatOf(time), 'date-time', time);
  assert.equal(formatOf('PaymentRequest.pay_page_url'), 'uri');
});

test('GET /openapi.json › each error is listed under its status, with an example of its code and message', () => {
  for (const { operationId, responses } of operations()) {
    const told = Object.entries(responses).filter(([status]) => Number(status) >= 400);
    assert.ok(told.length >= 6, operationId);
    for (const [status, content] of told) {
      for (const [code, { value }] of Object.entries(content.content?.['application/json']?.examples ?? {})) {
        const [expected, general] = errors[code as keyof typeof errors];
        const { error, message: sentence } = value as Record<string, unknown>;
        // The sentence about fields names the first one.
        const message = code === 'invalid_request' ? 'fiat_amount_int must be at least 1.' : general;
        assert.deepEqual([status, code, sentence], [String(expected), error, message], operationId);
        const schema = (schemaOf(content) ?? {}) as { properties?: object };
        assert.ok(ajv.validate(schema, value), `${operationId} ${code}: ${ajv.errorsText()}`);
        const untyped = Object.keys(value as object).filter((name) => !(name in (schema.properties ?? {})));
        assert.deepEqual(untyped, [], `${operationId} ${code}: fields that no client's type has`);
      }
    }
  }
});

test('GET /openapi.json › the request of the example of cannot_cancel is opened', () => {
  for (const { responses } of operations()) {
    const kept = responses['409']?.content?.['application/json']?.examples?.cannot_cancel?.value;
    if (kept) assert.equal((kept as { request: { status: string } }).request.status, 'opened');
  }
});

test('GET /openapi.json › a strict linter finds nothing', async () => {
  // The server is the one that was asked: here this machine.
  const config = await createConfig({ extends: ['recommended-strict'], rules: { 'no-server-example.com': 'off' } });
  const problems = await lintFromString({ source: JSON.stringify(served), config });
  assert.deepEqual(
    problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`),
    [],
  );
});

test('responses of the running service match the OpenAPI document', async () => {
  await setRate(app.db, 'EUR', '0.92');
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeMerchant(app.db, scope);
  const { key } = await makeKey(app.db, scope);
  const check = async (path: string, method: string, url: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) };
    const response = await fetch(app.url + url, { method, headers, body: body && JSON.stringify(body) });
    const value = (await response.json()) as Record<string, unknown>;
    const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
    const schema = schemaOf(responses[response.status]);
    assert.ok(schema, `${method} ${path} ${response.status} is not documented`);
    assert.ok(ajv.validate(schema, value), `${method} ${path}: ${ajv.errorsText()}`);
    return value;
  };
  const create = { account_id: merchant.id, fiat_amount_int: 1250, idempotency_key: 'k'.repeat(32) };
  const { request_id: id } = await check('/api/v1/requests/create', 'POST', '/api/v1/requests/create', create);
  await check('/api/v1/requests/create', 'POST', '/api/v1/requests/create', create);
  await check('/api/v1/requests/create', 'POST', '/api/v1/requests/create', {});
  await check('/api/v1/requests/{request_id}', 'GET', `/api/v1/requests/${id}`);
  await check('/api/v1/requests', 'GET', '/api/v1/requests');
  await check('/api/v1/requests/{request_id}/cancel', 'POST', `/api/v1/requests/${id}/cancel`);
  await check('/api/v1/requests/{request_id}/cancel', 'POST', `/api/v1/requests/${id}/cancel`);
  await check('/api/v1/accounts', 'POST', '/api/v1/accounts', { country: 'DE' });
  await check('/api/v1/accounts', 'GET', '/api/v1/accounts');
  await check('/api/v1/accounts/{account_id}', 'GET', `/api/v1/accounts/${merchant.id}`);
});

test('GET /docs › the reference page loads its script from here, and runs no other', async () => {
  const answer = await fetch(`${app.url}/docs/`);
  assert.match(answer.headers.get('content-security-policy') ?? '', /script-src 'self';/);
  const page = (await answer.text()).replace(/<script id="api-reference" type="application\/json".*?<\/script>/s, '');
  const [scalar, own, ...others] = page.match(/<script[^>]*>/g) ?? [];
  assert.equal(scalar, '<script src="js/scalar.js">');
  assert.match(own ?? '', /^<script type="module" src="\/assets\/reference-\w+\.js">$/);
  assert.deepEqual(others, []);
  assert.equal((await fetch(`${app.url}/docs/js/scalar.js`)).status, 200);
  assert.doesNotMatch(page, /https?:\/\/(?!localhost)/);
});

test('GET /docs/js/scalar.js › compressed for who reads that, the same text for all, and kept by its tag', async () => {
  const get = async (headers: Record<string, string>) => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      headers: IncomingHttpHeaders;
      status: number;
      body: Buffer;
    }>();
    httpGet(`${app.url}/docs/js/scalar.js`, { headers }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      resolve({ headers: response.headers, status: response.statusCode ?? 0, body: Buffer.concat(chunks) });
    }).on('error', reject);
    return promise;
  };
  const plain = await get({});
  assert.equal(plain.headers['content-encoding'], undefined);
  for (const [accepted, encoding, open] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
  ] as const) {
    const sent = await get({ 'accept-encoding': accepted });
    assert.deepEqual(
      [sent.status, sent.headers['content-encoding'], sent.headers.vary],
      [200, encoding, 'accept-encoding'],
    );
    assert.match(String(sent.headers['content-type']), /javascript/);
    assert.ok(sent.body.length < plain.body.length / 3, `${sent.body.length} bytes`);
    assert.equal(Number(sent.headers['content-length']), sent.body.length);
    assert.ok(open(sent.body).equals(plain.body));
    const again = await get({ 'accept-encoding': accepted, 'if-none-match': String(sent.headers.etag) });
    assert.deepEqual([again.status, again.body.length, again.headers.etag], [304, 0, sent.headers.etag]);
    assert.match(String(sent.headers['cache-control']), /^public/);
  }
});

test('comparing two documents › a status that is gone breaks a client, a range does not', () => {
  const [before, after] = [document, document].map((it) => structuredClone(it) as unknown as OpenApi);
  assert.ok(before && after);
  const responsesOf = (doc: OpenApi) => doc.paths['/api/v1/requests/{request_id}']?.get?.responses ?? {};
  Object.assign(responsesOf(before), { '4XX': responsesOf(before)['404'] });
  assert.deepEqual(breakingChanges(before, after), []);
  delete responsesOf(after)['404'];
  assert.deepEqual(breakingChanges(before, after), ['GET /api/v1/requests/{request_id}: answer 404 is gone']);
});

test('comparing two documents › additions pass; what breaks a client is named', () => {
  const before = structuredClone(document) as unknown as OpenApi;
  assert.deepEqual(breakingChanges(before, before), []);
  const create = (doc: OpenApi) => doc.paths['/api/v1/requests/create']?.post;
  const bodyOf = (doc: OpenApi) => create(doc)?.requestBody?.content?.['application/json']?.schema ?? {};
  const change = (edit: (doc: OpenApi) => void) => {
    const after = structuredClone(before);
    edit(after);
    return breakingChanges(before, after).join('; ');
  };
  assert.equal(
    change((doc) => Object.assign(bodyOf(doc).properties ?? {}, { colour: { type: 'string' } })),
    '',
  );
  assert.match(
    change((doc) => delete doc.paths['/api/v1/accounts']),
    /GET \/api\/v1\/accounts is gone/,
  );
  assert.match(
    change((doc) => bodyOf(doc).required?.push('memo')),
    /body\.memo is newly required/,
  );
  assert.match(
    change((doc) => delete bodyOf(doc).properties?.memo),
    /body\.memo is gone/,
  );
  const tighter = change((doc) => {
    const memo = bodyOf(doc).properties?.memo;
    if (memo) memo.maxLength = 10;
  });
  assert.match(tighter, /tighter maxLength/);
  const headersOf = (doc: OpenApi) => create(doc)?.responses['201']?.headers ?? {};
  assert.match(
    change((doc) => delete headersOf(doc)['x-request-id']),
    /answer 201\.header x-request-id is gone/,
  );
  const fewer = change((doc) => {
    const answer = create(doc)?.responses['201']?.content?.['application/json']?.schema;
    if (answer) answer.required = answer.required?.filter((name) => name !== 'status');
  });
  assert.match(fewer, /status may be missing/);
});

test('GET /openapi.json › the guide says what to do about every error that a call can get, under its status', () => {
  const guide = (served as unknown as { info: { description: string } }).info.description;
  const rows = [...guide.matchAll(/^\| (\d{3}) \| `(\w+)` \| .+ \|$/gm)].map(([, status, code]) => [
    code,
    Number(status),
  ]);
  const ofCalls = Object.entries(errors).filter(([code]) => code !== 'malformed_text');
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(ofCalls.map(([code, [status]]) => [code, status])));
});
