import assert from 'node:assert/strict';
import { connect as connectSocket } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { connect } from '../../src/db/connection.ts';
import { arrivalMs } from '../../src/http/client-errors.ts';
import { buildServer } from '../../src/http/server.ts';
import { type Api, type ApiPartner, type CallOptions, send, startApi } from '../support/api/client.ts';
import { type Endpoint, endpoints, type Target } from '../support/api/endpoints.ts';
import { accessTo } from '../support/database.ts';
import { makeKey, makeMerchant, randomAddress } from '../support/fixtures.ts';
import { patienceMs } from '../support/patience.ts';

type Content = { content: { 'application/json': { examples?: Record<string, object> } } };
type Document = { paths: Record<string, Record<string, { responses: Record<string, Content> }>> };
/** Which errors of which statuses, and which other statuses. */
type Answers = Record<string, string[]>;

let api: Api;
let one: ApiPartner;
let target: Target;
let documented: Document['paths'];
before(async () => {
  api = await startApi();
  one = await api.partner();
  target = { accountId: one.test.merchant.id, requestId: await newRequest() };
  documented = ((await (await fetch(`${api.url}/openapi.json`)).json()) as Document).paths;
});
after(() => api?.stop());

const newRequest = async () =>
  (await one.test.api.create({ account_id: one.test.merchant.id, fiat_amount_int: 1 })).json.request_id;

/** Bodies of a create that are refused because of what is stored. */
async function refusedCreates(): Promise<object[]> {
  const { id: account_id } = one.test.merchant;
  const disabled = await makeMerchant(api.db, one.test.scope);
  await api.db.sql`update merchants set disabled_by_partner = true where id = ${disabled.id}`;
  const shell = await one.test.api.createAccount({});
  const withoutRate = await makeMerchant(api.db, one.test.scope, { currency: 'GBP' });
  const valid = { account_id, fiat_amount_int: 5 };
  return [
    { ...valid, idempotency_key: 'x' },
    { ...valid, payment_mode: 'invoice' },
    { ...valid, fiat_currency_code: 'USD' },
    { ...valid, expiry_minutes: 7 },
    { ...valid, account_id: disabled.id },
    { ...valid, account_id: one.live.merchant.id },
    { ...valid, account_id: shell.json.account_id },
    { ...valid, account_id: withoutRate.id },
    { ...valid, idempotency_key: 'r'.repeat(32) },
    { ...valid, idempotency_key: 'r'.repeat(32) },
  ];
}

async function bodiesOf({ name }: Endpoint): Promise<object[]> {
  if (name === 'POST /requests/create') return refusedCreates();
  if (name !== 'POST /accounts') return [];
  const wallet_address = randomAddress();
  return [{ wallet_address: one.live.merchant.wallet }, { wallet_address }, { wallet_address }, { country: 'x' }];
}

/** Makes an endpoint answer all that it can answer, and collects that. */
async function answersOf(endpoint: Endpoint): Promise<Answers> {
  const seen = new Map<number, Set<string>>();
  const call = async (options: CallOptions = {}, named = target, url = api.url, query = '') => {
    const key = options.key === undefined ? await one.test.api.newKey() : options.key;
    const body = endpoint.body ? { body: endpoint.body(named) } : {};
    const answer = await send(url, endpoint.method, endpoint.path(named) + query, { ...body, ...options, key });
    const codes = seen.get(answer.status) ?? new Set();
    seen.set(answer.status, codes);
    if (answer.status >= 400) codes.add(answer.json.error);
  };
  // A cancel of one that is cancelled, an unknown or malformed id, and what the endpoint takes neither as body nor query.
  await call({}, { ...target, requestId: await newRequest() });
  await call();
  await call();
  await call({}, { accountId: crypto.randomUUID(), requestId: crypto.randomUUID() });
  await call({}, { accountId: 'x', requestId: 'x' });
  await call({}, target, api.url, '?limit=0&limit=x&account_id=1&status=no');
  await call({}, target, api.url, `?account_id=${crypto.randomUUID()}`);
  for (const raw of ['{', '[]', ' '.repeat(131_073)]) await call({ raw });
  await call({ raw: 'a=b', headers: { 'content-type': 'text/plain' } });
  for (const body of await bodiesOf(endpoint)) await call({ body });
  // The key and the host.
  for (const key of [null, 'qt_test_x', await one.test.api.newKey([])]) await call({ key });
  await call({ headers: { host: 'elsewhere.test' } });
  await call({ headers: { host: 'unknown.localhost' } });
  // The HTTP.
  await call({ headers: { 'x-long': 'x'.repeat(17_000) } });
  await call({ raw: '{}', headers: { connection: 'close', 'transfer-encoding': 'chunked' } });
  const { status, code } = await unfinished(endpoint);
  seen.set(status, new Set([code]));
  await api.db.sql`update partners set disabled_at = now() where id = ${one.partner.id}`;
  await call();
  await api.db.sql`update partners set disabled_at = null where id = ${one.partner.id}`;
  const { key_id, key } = await makeKey(api.db, one.test.scope);
  await call({ key });
  await api.db.sql`
    update rate_counters set calls = ${endpoint.perMinute}, minute = minute + interval '1 hour' where subject = ${key_id}`;
  await call({ key });
  await duringFailures(call);
  return Object.fromEntries([...seen].map(([status, codes]) => [status, [...codes].sort()]));
}

/** The answer to a call that stops in the middle of its headers. */
async function unfinished(endpoint: Endpoint): Promise<{ status: number; code: string }> {
  Object.assign(api.app.server, { headersTimeout: 100, requestTimeout: 100 });
  const socket = connectSocket(Number(new URL(api.url).port), '127.0.0.1');
  socket.setTimeout(patienceMs, () => socket.destroy(new Error('the service kept the connection')));
  socket.write(`${endpoint.method} ${endpoint.path(target)} HTTP/1.1\r\n`);
  const received = await text(socket);
  Object.assign(api.app.server, { headersTimeout: arrivalMs, requestTimeout: arrivalMs });
  const [, status, code = ''] = /^HTTP\/1\.1 (\d+) .*"error":"(\w+)"/s.exec(received) ?? [];
  return { status: Number(status), code };
}

type Call = (options?: CallOptions, target?: Target, url?: string) => Promise<void>;

/** Calls while a table is missing, and on a node that cannot reach the database. */
async function duringFailures(call: Call): Promise<void> {
  for (const table of ['requests', 'merchants']) {
    await api.owner.unsafe(`alter table ${table} rename to gone`);
    await call().finally(() => api.owner.unsafe(`alter table gone rename to ${table}`));
  }
  const db = connect(accessTo('postgres://quittance:secret@127.0.0.1:9/nowhere'));
  const node = await buildServer({ ...api.ctx, db });
  await call({}, target, await node.listen({ host: '127.0.0.1', port: 0 }));
  await node.close();
  await db.close();
}

function documentedFor({ method, path }: Endpoint): Answers {
  const url = path({ accountId: '{account_id}', requestId: '{request_id}' });
  const { responses = {} } = documented[url]?.[method.toLowerCase()] ?? {};
  const codes = ({ content }: Content) => Object.keys(content['application/json'].examples ?? {}).sort();
  return Object.fromEntries(
    Object.entries(responses).map(([status, content]) => [status, Number(status) < 400 ? [] : codes(content)]),
  );
}

for (const endpoint of endpoints) {
  test(`GET /openapi.json › ${endpoint.name} lists exactly the statuses and errors that it answers`, async () => {
    assert.deepEqual(documentedFor(endpoint), await answersOf(endpoint));
  });
}
