import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { revokeApiKey, type ScopeName, scopeNames } from '../../src/auth/api-keys.ts';
import { checksum62, randomBase62 } from '../../src/lib/text/base62.ts';
import {
  type Answer,
  type Api,
  type ApiPartner,
  assertRefused,
  type CallOptions,
  startApi,
} from '../support/api/client.ts';
import { callEndpoint, endpoints } from '../support/api/endpoints.ts';
import { makeKey } from '../support/fixtures.ts';

let api: Api;
let one: ApiPartner;
let two: ApiPartner;

before(async () => {
  api = await startApi();
  one = await api.partner();
  two = await api.partner();
});
after(() => api?.stop());

function assertUnauthorized(answer: Answer): void {
  assertRefused(answer, 401, 'unauthorized');
  assert.equal(answer.headers['www-authenticate'], 'Bearer');
}
function wellFormed(prefix: string): string {
  const body = prefix + randomBase62(32);
  return body + checksum62(body);
}

for (const endpoint of endpoints) {
  test(`${endpoint.name} › without a key, or with one nobody has → 401 unauthorized, WWW-Authenticate: Bearer`, async () => {
    assertUnauthorized(await callEndpoint(one.test.api, endpoint, { key: null }));
    assertUnauthorized(await callEndpoint(one.test.api, endpoint, { key: wellFormed('qt_test_') }));
    assertUnauthorized(await callEndpoint(one.test.api, endpoint, { key: wellFormed('qt_live_') }));
  });

  test(`${endpoint.name} › revoked key → 401 at the very next call`, async () => {
    const { key, key_id } = await makeKey(api.db, one.test.scope);
    assert.notEqual((await callEndpoint(one.test.api, endpoint, { key })).status, 401);
    await revokeApiKey(api.ctx, theService, key_id);
    assertUnauthorized(await callEndpoint(one.test.api, endpoint, { key }));
  });

  test(`${endpoint.name} › key without ${endpoint.scope} → 403 insufficient_scope with required_scope`, async () => {
    const key = await one.test.api.newKey(scopeNames.filter((name) => name !== endpoint.scope));
    const answer = await callEndpoint(one.test.api, endpoint, { key });
    assertRefused(answer, 403, 'insufficient_scope', { required_scope: endpoint.scope });
    const only = await one.test.api.newKey([endpoint.scope]);
    assert.ok([200, 201, 404].includes((await callEndpoint(one.test.api, endpoint, { key: only })).status));
  });

  test(`${endpoint.name} › partner switched off → 403 partner_disabled, and it works again when on`, async () => {
    const off = await api.partner();
    await api.db.sql`update partners set disabled_at = now() where id = ${off.partner.id}`;
    for (const side of [off.test, off.live]) {
      assertRefused(await callEndpoint(side.api, endpoint), 403, 'partner_disabled');
    }
    await api.db.sql`update partners set disabled_at = null where id = ${off.partner.id}`;
    assert.ok([200, 201, 404].includes((await callEndpoint(off.test.api, endpoint)).status));
  });

  test(`${endpoint.name} › key of another partner on a partner’s own host → 401 unauthorized`, async () => {
    const headers = { host: `${two.partner.slug}.localhost` };
    assertUnauthorized(await callEndpoint(one.test.api, endpoint, { headers }));
    assert.ok([200, 201, 404].includes((await callEndpoint(two.test.api, endpoint, { headers })).status));
  });

  test(`${endpoint.name} › host of nobody → 404 not_found`, async () => {
    for (const host of ['example.com', `${one.partner.slug}.example.com`, `a.${one.partner.slug}.localhost`]) {
      assertRefused(await callEndpoint(one.test.api, endpoint, { headers: { host } }), 404, 'not_found');
    }
  });
}

test('Authorization › malformed headers → 401 unauthorized', async () => {
  const key = await one.test.api.newKey();
  const wrongChecksum = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
  const headers = [
    '',
    'Bearer',
    'Bearer ',
    key,
    `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
    `Token ${key}`,
    `Bearer ${key}x`,
    `Bearer ${key.slice(0, -1)}`,
    `Bearer ${wrongChecksum}`,
    `Bearer ${key} ${key}`,
    `Bearer ${key}, Bearer ${key}`,
    `Bearer "${key}"`,
    `Bearer ${key.replace('qt_test_', 'qt_live_')}`,
    `Bearer ${key.toLowerCase()}`,
    `Bearer ${'x'.repeat(5000)}`,
  ];
  for (const authorization of headers) {
    const answer = await one.test.api.list('', { key: null, headers: { authorization } });
    assertUnauthorized(answer);
    assert.ok(!answer.text.includes(key));
  }
});

test('Authorization › the message says whether no key came, no Bearer, an incomplete key, or one that nobody has any more', async () => {
  const key = await one.test.api.newKey();
  const messageFor = async (headers: Record<string, string>) => {
    const { text } = await one.test.api.list('', { key: null, headers });
    return JSON.parse(text).message as string;
  };
  assert.match(await messageFor({}), /^No API key was sent/);
  assert.match(await messageFor({ authorization: `Basic ${key}` }), /header must be: Bearer/);
  assert.match(await messageFor({ authorization: `Bearer ${key.slice(0, -1)}` }), /not a complete API key/);
  assert.match(await messageFor({ authorization: `Bearer ${wellFormed('qt_test_')}` }), /does not exist, was revoked/);
  const { partner, test: side } = await api.partner();
  const ended = await side.api.newKey();
  await api.db.sql`update api_keys set ends_at = now() where partner_id = ${partner.id}`;
  assert.match(await messageFor({ authorization: `Bearer ${ended}` }), /has expired/);
});

test('a call with a key to an address outside the API → JSON that says where the API is, not a page', async () => {
  const authorization = `Bearer ${await one.test.api.newKey()}`;
  for (const path of ['/v1/requests', '/requests/create', '/api/requests']) {
    const answer = await fetch(new URL(path, api.url), { headers: { authorization } });
    assert.equal(answer.status, 404);
    const body = (await answer.json()) as { error: string; message: string };
    assert.deepEqual([body.error, body.message.endsWith('The API is at /api/v1.')], ['not_found', true]);
  }
  // As a browser sends it to a service behind a proxy with a password.
  const page = await fetch(new URL('/requests', api.url), { headers: { authorization: 'Basic YTpi' } });
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
});

test('Authorization › the scheme’s case does not matter; a key in the query is no key', async () => {
  const key = await one.test.api.newKey();
  for (const scheme of ['bearer', 'BEARER', 'Bearer']) {
    const answer = await one.test.api.list('', { key: null, headers: { authorization: `${scheme} ${key}` } });
    assert.equal(answer.status, 200);
  }
  assertUnauthorized(
    await one.test.api.list(`?api_key=${key}&authorization=Bearer ${key}`.replaceAll(' ', '%20'), { key: null }),
  );
});

test('Authorization › a prefix changed with a right checksum is another key: the prefix is authoritative', async () => {
  const key = await one.test.api.newKey();
  const body = `qt_live_${key.slice(8, 40)}`;
  assertUnauthorized(await one.test.api.list('', { key: body + checksum62(body) }));
});

test('Authorization › scopes do not include each other', async () => {
  const only = async (scope: ScopeName, call: (options: CallOptions) => Promise<Answer>) =>
    (await call({ key: await one.test.api.newKey([scope]) })).status;
  assert.equal(await only('requests:write', (options) => one.test.api.list('', options)), 403);
  assert.equal(await only('requests:read', (options) => one.test.api.create({}, options)), 403);
  assert.equal(await only('accounts:write', (options) => one.test.api.listAccounts('', options)), 403);
  assert.equal(await only('accounts:read', (options) => one.test.api.createAccount({}, options)), 403);
  assert.equal(await only('accounts:read', (options) => one.test.api.list('', options)), 403);
  assert.equal(await only('requests:read', (options) => one.test.api.listAccounts('', options)), 403);
});

test('Hosts › the shared host, bare addresses and the partner’s own host serve the same routes', async () => {
  const hosts = [
    'localhost',
    'localhost:3000',
    '127.0.0.1',
    '127.0.0.1:8080',
    '[::1]',
    `${one.partner.slug}.localhost`,
  ];
  hosts.push(`${one.partner.slug}.localhost:3000`, `${one.partner.slug.toUpperCase()}.LOCALHOST`);
  for (const host of hosts) {
    const answer = await one.test.api.list('', { headers: { host } });
    assert.equal(answer.status, 200, `${host}: ${answer.text}`);
  }
});

test('Hosts › a partner’s host that does not exist → no answer for anyone’s key', async () => {
  const answer = await one.test.api.list('', { headers: { host: 'nobody-here.localhost' } });
  assert.ok([401, 404].includes(answer.status), answer.text);
});

test('Hosts › addresses in answers come from configuration, never from the Host header', async () => {
  const headers = {
    host: `${one.partner.slug}.localhost:9999`,
    'x-forwarded-host': 'evil.example',
    forwarded: 'host=evil.example',
  };
  const account = await one.test.api.createAccount({}, { headers });
  const request = await one.test.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 }, { headers });
  for (const answer of [account, request]) {
    assert.equal(answer.status, 201, answer.text);
    assert.ok(!answer.text.includes('9999') && !answer.text.includes('evil'), answer.text);
  }
  assert.ok(request.json.pay_page_url.startsWith(`${api.ctx.config.payUrl}/`));
});
