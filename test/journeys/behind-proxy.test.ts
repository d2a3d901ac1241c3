import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { pino } from 'pino';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../src/audit/write.ts';
import { trailFields } from '../../src/lib/trail.ts';
import { createShell } from '../../src/merchants/create.ts';
import { onboardingUrl } from '../../src/merchants/onboarding-token.ts';
import { assertRefused, send } from '../support/api/client.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeKey, makeMerchant, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';
import { startVisitor } from '../support/people/visitor.ts';
import { until } from '../support/until.ts';

/** Two services: the first trusts the tests as its proxy, the second does not. */
let trusting: Awaited<ReturnType<typeof startApp>>;
let wary: typeof trusting;
/** What each of them logged. */
const logged = { trusting: [] as string[], wary: [] as string[] };

before(async () => {
  const clock = { now: () => new Date('2030-01-01T00:00:00Z') }; // all attempts fall into one window
  const logTo = (lines: string[]) =>
    pino({ level: 'debug', mixin: trailFields }, { write: (line: string) => void lines.push(line) });
  const config = testConfig({ trustProxy: ['127.0.0.0/8', '10.0.0.0/8'] });
  trusting = await startApp({ clock, config, log: logTo(logged.trusting) });
  wary = await startApp({ clock, log: logTo(logged.wary) });
});
after(async () => {
  await trusting?.stop();
  await wary?.stop();
});

/** Onboards a merchant through these hops; returns the address that was kept with the terms. */
async function acceptTerms(app: typeof trusting, forwardedFor: string): Promise<string> {
  const { test: scope } = await makePartner(app.db);
  const merchant = await createShell(app.ctx, theService, scope, { display_currency: 'EUR' });
  const { pathname } = new URL(onboardingUrl(app.ctx.config, merchant, app.ctx.clock.now()));
  const account = privateKeyToAccount(generatePrivateKey());
  const visitor = startVisitor(app.url, { 'x-forwarded-for': forwardedFor });
  const details = await visitor.open(pathname);
  const wallet = await visitor.send(details, '/details');
  const asked = await visitor.send(wallet, '/wallet', { wallet_address: account.address });
  const message = asked.forms.find(({ action }) => action.endsWith('/complete'))?.fields.message ?? '';
  const signature = await account.signMessage({ message: message.replaceAll('\r\n', '\n') });
  await visitor.send(asked, '/complete', { signature, accept_terms: '1' });
  const [row] = await app.db.sql`select terms_accepted_from from merchants where id = ${merchant.id}`;
  return row?.terms_accepted_from;
}

test('Behind a trusted proxy › the address kept with the terms is the customer’s', async () => {
  assert.equal(await acceptTerms(trusting, '203.0.113.7'), '203.0.113.7');
  assert.equal(await acceptTerms(trusting, '203.0.113.7, 10.1.2.3'), '203.0.113.7');
  const forged = '198.51.100.1, 203.0.113.7';
  assert.equal(
    await acceptTerms(trusting, forged),
    '203.0.113.7',
    'what the customer wrote before the proxies counts not',
  );
});

test('Without a trusted proxy › X-Forwarded-For changes no address', async () => {
  assert.equal(await acceptTerms(wary, '203.0.113.7'), '127.0.0.1');
});

/** Submits a hash for a request that does not exist; returns whether the client was still allowed to. */
async function mayTry(app: typeof trusting, forwardedFor: string): Promise<boolean> {
  const headers = { 'x-forwarded-for': forwardedFor };
  const body = new URLSearchParams({ tx_hash: 'x' });
  const { status } = await visit(`${app.url}/pay/${randomUUID()}/proof`, { method: 'POST', headers, body });
  assert.ok([404, 429].includes(status), String(status));
  return status === 404;
}

test('Behind a trusted proxy › attempts are limited per customer, not for all together', async () => {
  const tries = await Promise.all(Array.from({ length: 61 }, () => mayTry(trusting, '203.0.113.8')));
  assert.equal(tries.filter(Boolean).length, 60);
  assert.equal(await mayTry(trusting, '203.0.113.9'), true);
  assert.equal(await mayTry(trusting, '198.51.100.1, 203.0.113.8'), false, 'a forged first hop is no way out');
});

test('Behind proxies that write ports › each customer’s address counts, not each connection', async () => {
  const ofNetwork = (n: number) => [`203.0.113.30:${40_000 + n}`, `203.0.113.30, 10.1.2.3:${40_000 + n}`];
  const ways = Array.from({ length: 31 }, (_, n) => ofNetwork(n)).flat();
  const tries = await Promise.all(ways.map((way) => mayTry(trusting, way)));
  assert.equal(tries.filter(Boolean).length, 60);
  assert.equal(await mayTry(trusting, '203.0.113.31:40000'), true);
  const ofHome = Array.from({ length: 61 }, (_, n) => `[2001:db8:0:1::${n}]:${50_000 + n}`);
  const others = await Promise.all(ofHome.map((way) => mayTry(trusting, way)));
  assert.equal(others.filter(Boolean).length, 60);
  assert.equal(await acceptTerms(trusting, '203.0.113.32:4711'), '203.0.113.32');
});

const stateOf = async (id: string, forwardedFor: string) =>
  (await visit(`${trusting.url}/pay/${id}/state`, { headers: { 'x-forwarded-for': forwardedFor } })).status;
const askTimes = (times: number, ask: () => Promise<number>) => Promise.all(Array.from({ length: times }, ask));

test('polling the state of a pay page → limited per client and request; other clients’ calls do not count', async () => {
  const { test: scope } = await makePartner(trusting.db);
  const { id } = await makeRequest(trusting.db, scope, await makeMerchant(trusting.db, scope));
  const statuses = await askTimes(121, () => stateOf(id, '203.0.113.20'));
  assert.deepEqual([statuses.filter((status) => status === 200).length, statuses.indexOf(429) >= 0], [120, true]);
  assert.equal(await stateOf(id.toUpperCase(), '203.0.113.20'), 429, 'written otherwise, it is the same request');
  assert.equal(await stateOf(id, '203.0.113.21'), 200);
  const other = await makeRequest(trusting.db, scope, await makeMerchant(trusting.db, scope));
  assert.equal(await stateOf(other.id, '203.0.113.20'), 200);
});

test('sixty tablets behind one address poll every three seconds → answered; more → limited', async () => {
  const statuses = await askTimes(1201, () => stateOf(randomUUID(), '203.0.113.22'));
  assert.equal(statuses.filter((status) => status === 404).length, 1200);
  assert.equal(statuses.filter((status) => status === 429).length, 1);
});

test('Without a trusted proxy › a client that makes up addresses is limited as one', async () => {
  const tries = await Promise.all(Array.from({ length: 61 }, (_, n) => mayTry(wary, `203.0.113.${n}`)));
  assert.equal(tries.filter(Boolean).length, 60);
});

test('Behind a trusted proxy › X-Forwarded-Host and -Proto change neither whose host it is nor an address', async () => {
  const { db, url, ctx } = trusting;
  await setRate(db, 'EUR', '0.92');
  const one = await makePartner(db);
  const two = await makePartner(db);
  const merchant = await makeMerchant(db, one.test);
  const { key } = await makeKey(db, one.test);
  const forwarded = { 'x-forwarded-proto': 'gopher', 'x-forwarded-for': '203.0.113.7' };
  const create = (host: string, forwardedHost: string) =>
    send(url, 'POST', '/api/v1/requests/create', {
      key,
      headers: { ...forwarded, host, 'x-forwarded-host': forwardedHost },
      body: { account_id: merchant.id, fiat_amount_int: 1 },
    });
  const stranger = `${two.partner.slug}.localhost`;
  const own = `${one.partner.slug}.localhost`;
  assertRefused(await create(stranger, own), 401, 'unauthorized');
  const created = await create(own, stranger);
  assert.equal(created.status, 201, created.text);
  assert.ok(created.json.pay_page_url.startsWith(`${ctx.config.payUrl}/`), created.json.pay_page_url);
  assert.doesNotMatch(JSON.stringify(created), /gopher/);
});

test('The id and the trace that come with a call › are logged from a trusted proxy, and from nobody else', async () => {
  const traceId = '4b'.repeat(16);
  const sent = { 'x-request-id': 'edge-7f3a', traceparent: `00-${traceId}-${'0f'.repeat(8)}-01` };
  for (const [app, lines, isTrusted] of [
    [trusting, logged.trusting, true],
    [wary, logged.wary, false],
  ] as const) {
    const { headers } = await send(app.url, 'GET', '/healthz', { headers: sent });
    const id = String(headers['x-request-id']);
    const answered = () => lines.find((line) => line.includes(id) && line.includes('a call was answered')) ?? '';
    await until(() => answered() !== '', 'the call to be logged');
    assert.deepEqual([answered().includes('edge-7f3a'), answered().includes(traceId)], [isTrusted, isTrusted]);
  }
});
