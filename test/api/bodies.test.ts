import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { after, before, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { checksum62 } from '../../src/lib/text/base62.ts';
import { type Api, type ApiPartner, assertRefused, startApi } from '../support/api/client.ts';
import { endpoints } from '../support/api/endpoints.ts';

let api: Api;
let one: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
});
after(() => api?.stop());

const bytes = (...parts: (string | number[])[]) => Buffer.concat(parts.map((part) => Buffer.from(part as string)));

/** Put into bodies, to find them among the texts that were decoded or parsed. */
const mark = 'nobody-parses-this';
test('a body without a well-formed key is not parsed; a large one not without a known key either', async (t) => {
  const decoded = t.mock.method(TextDecoder.prototype, 'decode');
  const parsed = t.mock.method(JSON, 'parse');
  const timesParsed = () =>
    decoded.mock.calls.filter(({ result }) => result?.includes(mark)).length +
    parsed.mock.calls.filter(({ arguments: [text] }) => String(text).includes(mark)).length;
  const madeUp = `qt_test_${'A'.repeat(32)}`;
  const wellFormed = madeUp + checksum62(madeUp);
  const small = `{"x":"${mark}"}`;
  const large = small.padEnd(64 * 1024);
  for (const [raw, authorization] of [
    [small, null],
    [large, null],
    [large, 'Basic eDp5'],
    [large, 'Bearer x'],
    [large, `Bearer qt_test_${'0'.repeat(38)}`],
    [large, `Bearer ${wellFormed}`],
  ] as const) {
    const answer = await one.test.api.call('POST', '/api/v1/accounts', { raw, headers: { authorization } });
    assertRefused(answer, 401, 'unauthorized');
    assert.equal(timesParsed(), 0, String(authorization));
  }
  const known = await one.test.api.call('POST', '/api/v1/accounts', { raw: large });
  assert.notEqual(known.status, 401);
  assert.equal(timesParsed(), 2, 'decoded once, parsed once');
});

test('a body that is no JSON object → the sentence says whether it is empty, no UTF-8, no JSON, or something else', async () => {
  const said = async (raw: string | Buffer) =>
    (await one.test.api.call('POST', '/api/v1/accounts', { raw })).json.message;
  assert.equal(await said(''), 'The body is empty; send one JSON object.');
  assert.equal(await said(' '), 'The body is empty; send one JSON object.');
  for (const raw of [Buffer.from([0xff]), gzipSync('{}')])
    assert.equal(await said(raw), 'The body is not valid UTF-8; send it in that encoding, and not compressed.');
  assert.equal(await said('\ufeff{}'), 'The body begins with a byte order mark; send it without one.');
  for (const raw of ['{"email":"x",}', "{'email':'x'}", 'email=x', '{'])
    assert.equal(await said(raw), 'The body is not valid JSON; check its quotes, commas and brackets.', raw);
  for (const raw of ['[{}]', '"{}"', 'null', '7'])
    assert.equal(await said(raw), 'The body must be one JSON object, not an array or a single value.', raw);
  for (const raw of ['{"email":"x","email":"y"}', '{"email":"x","\\u0065mail":"y"}', '{"a":[{"b":1,"b":2}]}'])
    assert.equal(await said(raw), 'An object in the body has a key twice; send each key once.', raw);
  for (const raw of ['{"phone":"\\u0000"}', '{"phone":"\\ud83d"}', '{"\\ud83d":1}'])
    assert.match(await said(raw), /^A text in the body contains NUL or a lone surrogate/, raw);
  assert.match(await said('{"__proto__":1}'), /^The body has a key __proto__/);
  assert.match(await said(`{"a":${'['.repeat(32)}${']'.repeat(32)}}`), /^The body has more than 32 levels/);
});

test('a compressed body → the sentence names its Content-Encoding; the header alone makes nothing invalid', async () => {
  const post = (raw: string | Buffer, encoding: string) =>
    one.test.api.call('POST', '/api/v1/accounts', { raw, headers: { 'content-encoding': encoding } });
  const said = 'The body is compressed, as its header Content-Encoding says; send it without compression.';
  for (const [encoding, bytes] of [
    ['gzip', gzipSync('{}')],
    ['br', brotliCompressSync('{}')],
    ['deflate', deflateSync('{}')],
  ] as const) {
    const answer = await post(bytes, encoding);
    assertRefused(answer, 400, 'invalid_json');
    assert.equal(answer.json.message, said, encoding);
  }
  for (const encoding of ['gzip', 'identity', 'utf-8'])
    assert.equal((await post('{}', encoding)).status, 201, encoding);
  assert.match((await post('{', 'utf-8')).json.message, /not valid JSON/);
});

test('a body deeper than 32 levels is refused before it is parsed', async (t) => {
  const parsed = t.mock.method(JSON, 'parse');
  const raw = `{"${mark}":${'['.repeat(32_000)}${']'.repeat(32_000)}}`;
  assertRefused(await one.test.api.call('POST', '/api/v1/accounts', { raw }), 400, 'invalid_json');
  assert.equal(parsed.mock.calls.filter(({ arguments: [text] }) => String(text).includes(mark)).length, 0);
});

const posting = [
  { name: 'POST create', path: '/api/v1/requests/create' },
  { name: 'POST accounts', path: '/api/v1/accounts' },
];

for (const { name, path } of posting) {
  const post = (raw: string | Uint8Array, headers: Record<string, string | null> = {}) =>
    one.test.api.call('POST', path, { raw, headers });

  for (const [shown, raw] of [
    ['nothing', ''],
    ['white space', ' \n'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '5'],
    ['a string', '"{}"'],
    ['half an object', '{"email":'],
    ['two objects', '{}{}'],
    ['a trailing comma', '{"email":"a@x.de",}'],
    ['single quotes', "{'email':'a@x.de'}"],
    ['a comment', '{} // hello'],
    ['NaN', '{"x":NaN}'],
    ['duplicate keys', '{"memo":"a","memo":"b"}'],
    ['duplicate keys through an escape', '{"memo":"a","mem\\u006f":"b"}'],
    ['duplicate keys in metadata', '{"metadata":{"a":"1","a":"1"}}'],
    ['duplicate keys in an ignored field', '{"x":[{"y":{"a":1,"a":2}}]}'],
    ['NUL in a value', '{"memo":"a\\u0000b"}'],
    ['NUL in a key', '{"a\\u0000":"b"}'],
    ['NUL in an ignored field', '{"x":["\\u0000"]}'],
    ['a raw NUL', '{"memo":"a\0b"}'],
    ['a lone surrogate', '{"memo":"\\ud800"}'],
    ['a lone surrogate in a metadata key', '{"metadata":{"\\udc00":"x"}}'],
    ['a surrogate as raw bytes', bytes('{"memo":"', [0xed, 0xa0, 0x80], '"}')],
    ['a key __proto__', '{"__proto__":{"account_id":"x"}}'],
    ['a key __proto__ in metadata', '{"metadata":{"__proto__":"x"}}'],
    ['a key __proto__ through an escape', '{"\\u005f_proto__":1}'],
    ['a byte that is no UTF-8', bytes('{"memo":"', [0xff], '"}')],
    ['an overlong slash', bytes('{"memo":"', [0xc0, 0xaf], '"}')],
    ['half a character', bytes('{"memo":"', [0xc3], '"}')],
    ['UTF-16', Buffer.from('{"memo":"x"}', 'utf16le')],
    ['33 levels', `{"x":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['a byte order mark', '\ufeff{}'],
  ] as const) {
    test(`${name} › a body of ${shown} → 400 invalid_json`, async () =>
      assertRefused(await post(raw), 400, 'invalid_json'));
  }

  test(`${name} › deep nesting is answered, not crashed on`, async () => {
    for (const raw of [`{"x":${'['.repeat(60_000)}${']'.repeat(60_000)}}`, '{"x":'.repeat(20_000)]) {
      assert.equal((await post(raw)).status < 500, true);
    }
  });

  test(`${name} › 128 KiB are read, one byte more → 413 body_too_large`, async () => {
    const body = JSON.stringify({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
    assert.equal((await post(body.padEnd(131_072))).status, 201);
    assertRefused(await post(body.padEnd(131_073)), 413, 'body_too_large');
    assertRefused(await post(body.padEnd(131_072 * 8)), 413, 'body_too_large');
  });

  test(`${name} › a body sent in chunks is limited too`, async () => {
    const key = await one.test.api.newKey();
    const status = await new Promise<number>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'transfer-encoding': 'chunked',
      };
      const call = httpRequest(new URL(path, api.url), { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      // The service may close the connection while the rest is still being sent.
      call.on('error', (error) => reject(error));
      for (let i = 0; i < 40; i++) call.write(' '.repeat(4096));
      call.end();
    });
    assert.equal(status, 413);
  });

  test(`${name} › application/json in any spelling, charset utf-8 allowed`, async () => {
    const body = JSON.stringify({ account_id: one.test.merchant.id, fiat_amount_int: 1 });
    const types = [
      'application/json',
      'Application/JSON',
      'application/json; charset=utf-8',
      'application/json;charset=UTF-8',
    ];
    types.push('application/json; charset="utf-8"');
    for (const type of types) assert.equal((await post(body, { 'content-type': type })).status, 201, type);
  });

  test(`${name} › any other content type, or none → 415 unsupported_media_type`, async () => {
    const types = [
      'text/plain',
      'text/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'application/json-patch+json',
      'application/json; charset=latin1',
      'application/json; charset=utf-16',
      'nonsense',
      '',
      null,
    ];
    for (const type of types) {
      assertRefused(await post('{}', { 'content-type': type }), 415, 'unsupported_media_type');
    }
  });
}

test('Content-Type › its message says what is wrong: the header is missing, a parameter is not allowed, or the type is another', async () => {
  const said = async (type: string | null) =>
    (await one.test.api.call('POST', '/api/v1/accounts', { raw: '{}', headers: { 'content-type': type } })).json
      .message;
  for (const type of [null, '']) assert.match(await said(type), /Content-Type is missing/);
  for (const type of ['application/json; charset=latin1', 'Application/JSON;profile=x', 'application/json;'])
    assert.match(await said(type), /may have no parameter but charset=utf-8/, type);
  assert.match(await said('text/json'), /^Send the body as JSON/);
});

test('Routes › unknown address → 404 not_found, with and without a key, whatever the method', async () => {
  const paths = ['/api/', '/api/v1', '/api/v1/', '/api/v2/requests', '/api/v1/nothing', '/api/v1/requests/a/b/c'];
  paths.push('/api/v1//requests', '/api/v1/Requests', '/api/v1/requests/create/');
  for (const path of paths) {
    for (const method of ['GET', 'POST', 'DELETE', 'PUT', 'PATCH']) {
      for (const key of [undefined, null])
        assertRefused(await one.test.api.call(method, path, { key }), 404, 'not_found');
    }
  }
});

test('Routes › an endpoint that does not exist → the sentence says so, and not that an ID is unknown', async () => {
  const said = async (path: string) => (await one.test.api.call('GET', path)).json.message;
  for (const path of ['/api/v1/plans', '/api/v1/requests/'])
    assert.equal(await said(path), 'The API has no such endpoint. /docs lists them; none ends with a slash.', path);
});

test('Routes › an unknown ID, one of the other mode, another host name → the sentence names the possible causes', async () => {
  const said = async (method: string, path: string, headers = {}) => {
    const answer = await one.test.api.call(method, path, { headers });
    assertRefused(answer, 404, 'not_found');
    return answer.json.message;
  };
  const { request_id: live } = (await one.live.api.create({ account_id: one.live.merchant.id, fiat_amount_int: 100 }))
    .json;
  for (const id of ['x', randomUUID(), live]) {
    const noRequest = 'This partner has no request with this ID in the mode of this key.';
    assert.equal(await said('GET', `/api/v1/requests/${id}`), noRequest);
    assert.equal(await said('POST', `/api/v1/requests/${id}/cancel`), noRequest);
  }
  for (const id of ['x', randomUUID(), one.live.merchant.id])
    assert.match(
      await said('GET', `/api/v1/accounts/${id}`),
      /^This partner has no merchant .* GET \/api\/v1\/accounts/,
    );
  const elsewhere = 'The API does not answer for this host name. /docs shows its address.';
  assert.equal(await said('GET', '/api/v1/requests', { host: 'elsewhere.example' }), elsewhere);
});

test('Routes › POST to the list of requests → 405, and the sentence names the address that creates one', async () => {
  const answer = await one.test.api.call('POST', '/api/v1/requests');
  assertRefused(answer, 405, 'method_not_allowed');
  assert.match(answer.json.message, /^Requests are created with POST \/api\/v1\/requests\/create\./);
});

test('Routes › an address that cannot be decoded → 404 not_found, as JSON', async () => {
  for (const path of ['/api/v1/requests/%ff', '/api/v1/requests/%', '/api/v1/accounts/%E0%A4%A', '/api/v1/%zz']) {
    assertRefused(await one.test.api.get(path), 404, 'not_found');
  }
});

test('Routes › an id of any length or with any character → 404 not_found', async () => {
  for (const id of ['x'.repeat(3000), '..%2f..%2f', '%00', '%0a', '%F0%9F%98%80', '%C3%28'.slice(0, 3)]) {
    assertRefused(await one.test.api.get(`/api/v1/requests/${id}`), 404, 'not_found');
  }
});

const allowed = new Map<string, Set<string>>();
for (const { method, path } of endpoints) {
  const url = path({
    accountId: '00000000-0000-4000-8000-000000000000',
    requestId: '00000000-0000-4000-8000-000000000000',
  });
  allowed.set(url, (allowed.get(url) ?? new Set()).add(method));
}
for (const [path, methods] of allowed) {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter(
    (name) => !methods.has(name),
  )) {
    test(`Routes › ${method} ${path.replace(/0{8}.*0{12}/, '<id>')} → 405 method_not_allowed with Allow, without a key too`, async () => {
      for (const key of [undefined, null]) {
        const answer = await one.test.api.call(method, path, { key });
        assert.equal(answer.status, 405, answer.text);
        const allow = String(answer.headers.allow).split(', ').toSorted();
        assert.deepEqual(allow, [...methods].toSorted());
        if (method !== 'HEAD') assertRefused(answer, 405, 'method_not_allowed');
      }
    });
  }
}

test('Answers › every answer has another x-request-id; one that a client sends is not taken over', async () => {
  const ids = new Set<unknown>();
  for (let i = 0; i < 5; i++) {
    const answer = await one.test.api.list('', { headers: { 'x-request-id': 'mine' } });
    assert.notEqual(answer.headers['x-request-id'], 'mine');
    ids.add(answer.headers['x-request-id']);
  }
  assert.equal(ids.size, 5);
});

test('Answers › nothing about the inside: no SQL, stack or product name in an error', async () => {
  const answers = [
    await one.test.api.list("?account_id=' or 1=1 --".replaceAll(' ', '%20')),
    await one.test.api.create({ account_id: { $ne: 1 }, fiat_amount_int: "1'; drop table requests" }),
    await one.test.api.get('/api/v1/requests/%'),
  ];
  for (const { text, headers } of answers) {
    assert.doesNotMatch(text, /select |insert |postgres|fastify|FST_|node_modules|at .*:\d+:\d+/i);
    assert.equal(headers['x-powered-by'], undefined);
    assert.equal(headers.server, undefined);
  }
});
