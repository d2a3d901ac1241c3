import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { theService } from '../../src/audit/write.ts';
import { startRecovery } from '../../src/wallets/recovery.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makeKey, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { type Visit, visit } from '../support/people/forms.ts';
import { makeOnboarded } from '../support/people/merchants.ts';
import { inviteOperator, invitePartnerUser, signInOperator } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { type Found, found, type Method, type Route, routesOf, watchReads } from '../support/people/routes.ts';
import { makePlan, turnAt } from '../support/plans.ts';

/**
 * Sends every route, including routes added later, what no form and no client of ours sends. It tries each parameter
 * that the handler reads or a form on a page names, while the others keep valid values.
 */
let app: Awaited<ReturnType<typeof startApp>>;
let stand: Awaited<ReturnType<typeof makeStand>>;
let routes: Route[];
let places: Map<string, Found>;
let calls = 0;
const reads = watchReads();

const keyOf = ({ method, pattern }: Route) => `${method} ${pattern}`;
/**
 * Each call comes from another client, and the clock alternates between two minutes, so that no limit applies. A step
 * back of only a minute would continue the later one.
 */
const clock = { now: () => new Date(Date.now() + (calls % 2) * 3 * 60_000) };

before(async () => {
  app = await startApp({ clock, config: testConfig({ trustProxy: ['127.0.0.1/32'] }) });
  await setRate(app.db, 'EUR', '0.92');
  // `/readyz` answers 503.
  routes = routesOf(app.app.printRoutes({ commonPrefix: false })).filter(({ pattern }) => pattern !== '/readyz');
  stand = await makeStand();
  places = await look();
});
after(async () => {
  reads.stop();
  await app?.stop();
});

/** A partner with some of everything, users signed in everywhere, and the paths to start following links from. */
async function makeStand() {
  const { ctx, db } = app;
  const { partner, test: scope, live } = await makePartner(db);
  const merchant = await makeOnboarded(ctx, scope);
  const customer = { customerName: 'Grace', customerEmail: 'grace@example.com' };
  const paying = await makeRequest(db, scope, merchant, customer);
  await makeRequest(db, scope, merchant, { fiatInt: 700, exactMicro: 7_000_000n });
  await makeEvents(db, scope);
  await makePlan(ctx, scope, merchant, { firstOn: '2026-01-31', customerEmail: 'grace@example.com' });
  await turnAt(ctx, '2026-01-31T00:00:00.000Z');
  await db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, judged_at, final_at)
    select 31337, '0x' || md5(random()::text) || md5(random()::text), 0, 1, '0x', now(), ${`0x${'5f'.repeat(20)}`},
      ${`0x${'ab'.repeat(20)}`}, ${merchant.wallet}, 5000000, ${partner.id}, true, ${merchant.id}, 'no_match', now(), now()`;
  const { key } = await makeKey(db, scope);
  await makeKey(db, live);
  const onboarding = async (details: Record<string, string>) => {
    const shell = await request(`${app.url}/api/v1/accounts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ business_name: 'Shell', ...details }),
    });
    return new URL(((await shell.body.json()) as { onboarding_url: string }).onboarding_url).pathname;
  };
  const recovery = await startRecovery(ctx, theService, scope, (await makeOnboarded(ctx, scope)).id);
  const invited = await Promise.all([invitePartnerUser(ctx, { partner, test: scope, live }), inviteOperator(ctx)]);
  return {
    key,
    renew: async () => {
      const cookies = {
        'dashboard-session': await sessionOf(ctx, scope, merchant),
        'portal-session': (await portalPerson(ctx, partner.id)).token,
        'admin-session': (await signInOperator(app)).visitor.cookies.get('admin-session'),
      };
      return Object.entries(cookies)
        .map(([name, value]) => `${name}=${value}`)
        .join('; ');
    },
    starts: [
      '/portal',
      '/admin',
      '/dashboard',
      '/dev/mail',
      '/portal/sign-in',
      '/admin/sign-in',
      '/dashboard/sign-in',
      `/pay/${paying.id}`,
      await onboarding({ email: 'shell@example.com' }),
      await onboarding({}),
      new URL(recovery.url).pathname,
      ...invited.map(({ link }) => new URL(link).pathname),
      '/api/v1/requests',
      '/api/v1/requests/create',
      '/api/v1/accounts',
      `/api/v1/requests/${paying.id}`,
      `/api/v1/requests/${paying.id}/cancel`,
      `/api/v1/accounts/${merchant.id}`,
    ],
    bodies: {
      '/api/v1/requests/create': { account_id: merchant.id, fiat_amount_int: 1250, metadata: { a: 'b' } },
      '/api/v1/accounts': { business_name: 'Shell' },
    } as Record<string, Record<string, unknown>>,
  };
}

let cookie = '';
const headersOf = () => ({
  cookie,
  'sec-fetch-site': 'same-origin',
  'x-forwarded-for': `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(256)}`,
  authorization: `Bearer ${stand.key}`,
});

/** Follows links to find where each route is reached, and what its form holds there. */
async function look(): Promise<Map<string, Found>> {
  cookie = await stand.renew();
  const open = (path: string): Promise<Visit> => visit(app.url + path, { headers: headersOf() });
  const places = await found(routes, stand.starts, new URL(app.ctx.config.baseUrl).origin, open);
  for (const [path, json] of Object.entries(stand.bodies)) Object.assign(places.get(`POST ${path}`) ?? {}, { json });
  return places;
}

/** A page that shows it unescaped contains its element; a cell that begins with it is a formula. */
const markup = `=1'"><sent-markup>`;
/** Encoded as in an address or a form. Some cannot be decoded. */
const texts: Record<string, string> = {
  nul: '%00',
  'lone surrogate': '%ED%A0%80',
  'no escape': '%zz',
  long: 'a'.repeat(6_000),
  empty: '',
  'large integer': '99999999999',
  'larger integer': '99999999999999999999',
  'no day': '2026-02-30',
  'early day': '-271821-04-20',
  id: '00000000-0000-0000-0000-000000000000',
  pair: `31337_0x${'ab'.repeat(32)}_99999999999`,
  key: '__proto__',
  markup: encodeURIComponent(markup),
};
/** For fields of the API. A field of a page is text, so there one JSON value is enough. */
const values: Record<string, unknown> = {
  nul: '\0',
  'lone surrogate': '\ud800',
  long: 'a'.repeat(100_000),
  null: null,
  true: true,
  number: 7,
  large: 1e300,
  list: [],
  object: {},
  deep: [[[[{ a: '\0' }]]]],
  'no keys': { '\0': '\ud800' },
  markup,
};

type Call = { path: string; body?: string; type?: string; headers?: Record<string, string> };
type Sent = [what: string, call: Call];
const faults: string[] = [];

async function send({ method, pattern }: Route, what: string, call: Call): Promise<void> {
  calls++;
  const sent = { 'content-type': call.type ?? 'application/x-www-form-urlencoded' };
  const response = await request(app.url + call.path, {
    method,
    headers: { ...headersOf(), ...(call.body !== undefined && sent), ...call.headers },
    body: call.body ?? null,
  });
  const type = String(response.headers['content-type']);
  if (type.startsWith('text/event-stream')) response.body.on('error', () => {}).destroy();
  else {
    const text = await response.body.text();
    const isShown = type.startsWith('text/html') && text.includes('<sent-markup');
    if (isShown || (type.startsWith('text/csv') && /^\uFEFF?=1|[,\n"]=1/.test(text)))
      faults.push(`markup ${method} ${pattern}: ${what}`);
  }
  if (response.statusCode >= 500) faults.push(`${response.statusCode} ${method} ${pattern}: ${what}`);
}

const encode = (fields: Record<string, string>) =>
  Object.entries(fields).map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);

/** A valid body for this place. */
function good({ method, fields, json }: Found): Partial<Call> {
  if (method === 'GET') return {};
  return json ? { body: JSON.stringify(json), type: 'application/json' } : { body: encode(fields).join('&') };
}

/** One field of a form in all the ways it can arrive; the others keep valid values. */
function* forms({ path, fields }: Found, name: string): Generator<Sent> {
  const { [name]: _, ...rest } = fields;
  const others = encode(rest);
  const field = encodeURIComponent(name);
  for (const [what, text] of Object.entries(texts)) {
    const value = what === 'long' ? text.repeat(10) : text;
    yield [`${name} ${what}`, { path, body: [...others, `${field}=${value}`].join('&') }];
  }
  yield [`${name} twice`, { path, body: [...others, `${field}=1`, `${field}=2`].join('&') }];
  const parts = Object.entries({ ...rest, [name]: 'a\0b' }).map(
    ([part, text]) => `--xx\r\ncontent-disposition: form-data; name="${part}"\r\n\r\n${text}\r\n`,
  );
  yield [`${name} in parts`, { path, body: `${parts.join('')}--xx--\r\n`, type: 'multipart/form-data; boundary=xx' }];
  const json = JSON.stringify({ ...rest, [name]: '\0' });
  yield [`${name} in JSON`, { path, body: json, type: 'application/json' }];
}

/**
 * For a form that was seen on no page and is read as a whole: tries each field of all other forms, in a few ways. The body
 * of a GET is parsed for nobody, so there one stands for all.
 */
function* guesses(place: Found): Generator<Sent> {
  if (place.method === 'GET') {
    yield ['a body', { path: place.path, body: 'a=%00' }];
    return;
  }
  const names = new Set([...places.values()].flatMap(({ fields }) => Object.keys(fields)));
  for (const name of names) {
    for (const [what, call] of forms(place, name))
      if (/ (?:nul|long|larger integer|twice)$/.test(what)) yield [what, call];
  }
}

/** One field of the API in all types. */
function* jsons({ path, json }: Found, name: string): Generator<Sent> {
  for (const [what, value] of Object.entries(values)) {
    yield [`${name} ${what}`, { path, body: JSON.stringify({ ...json, [name]: value }), type: 'application/json' }];
  }
}

/** A parameter that this many routes read is read by one function, so a few ways are enough for further routes. */
const readByMany = 2;
const walked = new Map<string, number>();

function* queries(place: Found, name: string): Generator<Sent> {
  const times = (walked.get(name) ?? 0) + 1;
  walked.set(name, times);
  const { pathname, searchParams } = new URL(place.path, app.url);
  searchParams.delete(name);
  const others = searchParams.size > 0 ? [searchParams.toString()] : [];
  const at = (more: string[]) => ({ path: `${pathname}?${[...others, ...more].join('&')}`, ...good(place) });
  const ways = Object.entries(texts).filter(([what]) => times <= readByMany || what === 'nul' || what === 'long');
  for (const [what, text] of ways) yield [`?${name} ${what}`, at([`${name}=${text}`])];
  yield [`?${name} twice`, at([`${name}=1`, `${name}=2`])];
  yield [`?${name} bare`, at([name])];
}

/** Each parameter in the path in turn. */
function* paths(place: Found): Generator<Sent> {
  const { pathname, search } = new URL(place.path, app.url);
  for (const [index, part] of place.pattern.split('/').entries()) {
    if (!part.startsWith(':')) continue;
    for (const [what, text] of Object.entries(texts)) {
      yield [`${part} ${what}`, { path: pathname.split('/').with(index, text).join('/') + search, ...good(place) }];
    }
  }
}

const readHeaders = ['user-agent', 'accept-language', 'accept-encoding', 'referer', 'x-forwarded-for', 'sec-purpose'];
const readCookies = ['dashboard-session', 'portal-session', 'admin-session', 'lang', 'mode', 'sign-in', 'onboarding'];

/** Headers that something reads. A NUL in a header is not valid HTTP, and is refused before there is a request. */
function* headers(place: Found): Generator<Sent> {
  const odd = Buffer.from([0xff, 0x80, 0x41, 0xed, 0xa0, 0x80]).toString('latin1');
  for (const name of readHeaders) {
    for (const [what, value] of Object.entries({ odd, long: 'a '.repeat(6_000) })) {
      yield [`${name} ${what}`, { path: place.path, ...good(place), headers: { [name]: value } }];
    }
  }
  for (const name of readCookies) {
    for (const value of [odd, '%00', 'a'.repeat(6_000)]) {
      yield [
        `cookie ${name}`,
        { path: place.path, ...good(place), headers: { cookie: `${name}=${value}; ${cookie}` } },
      ];
    }
  }
}

async function sendAll(route: Route, generated: Iterable<Sent>): Promise<void> {
  const waiting = [...generated];
  const one = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await send(route, ...next);
  };
  await Promise.all(Array.from({ length: 6 }, one));
}

/** Walking a route can reveal new parameters, which are then walked too. */
async function walk(route: Route): Promise<void> {
  const place = places.get(keyOf(route));
  assert.ok(place);
  await sendAll(route, [['nothing', { path: place.path, ...(route.method === 'POST' && { body: '' }) }]]);
  await sendAll(route, paths(place));
  const read = reads.of(route);
  const done = new Set<string>();
  const walkNew = async (kind: string, names: Iterable<string>, sent: (name: string) => Iterable<Sent>) => {
    const fresh = [...names].filter((name) => !done.has(kind + name));
    for (const name of fresh) {
      done.add(kind + name);
      await sendAll(route, sent(name));
    }
    return fresh.length > 0;
  };
  const inQuery = new URL(place.path, app.url).searchParams;
  for (let more = true; more; ) {
    more = await walkNew('?', [...inQuery.keys(), ...read.query], (name) => queries(place, name));
    if (route.method === 'GET') continue;
    const inBody = [...Object.keys(place.fields), ...read.body];
    more = (await walkNew('', inBody, (name) => (place.json ? jsons : forms)(place, name))) || more;
  }
  if (read.whole && Object.keys(place.fields).length === 0) await sendAll(route, guesses(place));
}

const ofMethod = (method: Method) => routes.filter((route) => route.method === method);

test('crawling from the start pages reaches most routes', () => {
  assert.ok(routes.length > 200, `${routes.length} routes`);
  const met = routes.filter((route) => places.get(keyOf(route))?.met);
  assert.ok(met.length > routes.length / 2, `${met.length} of ${routes.length} are met`);
  for (const known of ['POST /portal/keys/revoke', 'POST /dashboard/ask', 'GET /admin/partners/:slug']) {
    assert.ok(places.get(known)?.met, known);
  }
});

test('GET › any text in the address → never a 5xx, nor markup', async () => {
  for (const route of ofMethod('GET')) await walk(route);
  assert.deepEqual(faults.splice(0), []);
});

test('POST › any text in the address or a field → never a 5xx, nor markup', async () => {
  for (const route of ofMethod('POST')) {
    await app.db.sql`delete from rate_counters`;
    cookie = await stand.renew();
    await walk(route);
    cookie = await stand.renew();
    const homes = ['/portal', '/admin', '/dashboard'].map((path) => visit(app.url + path, { headers: headersOf() }));
    if ((await Promise.all(homes)).every(({ status }) => status === 200)) continue;
    // The route did its work, such as switching the partner off, so start afresh.
    stand = await makeStand();
    places = await look();
  }
  assert.deepEqual(faults.splice(0), []);
});

test('Any text in headers that are read → never a 5xx', async () => {
  for (const path of ['/portal', '/admin', '/dashboard', ...stand.starts]) {
    for (const route of routes.filter((one) => places.get(keyOf(one))?.path === path)) {
      await sendAll(route, headers(places.get(keyOf(route)) as Found));
    }
  }
  assert.deepEqual(faults.splice(0), []);
});

test('NUL in a form or a query → 400 and the page for what cannot be read; in a path → 404; JSON at a page → 415', async () => {
  // Without the key: with it, faults are answered in JSON.
  const { authorization: _, ...headers } = headersOf();
  const ask = async (path: string, call: Partial<Call> = {}) => {
    const response = await request(app.url + path, {
      method: call.body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'content-type': call.type ?? 'application/x-www-form-urlencoded' },
      body: call.body ?? null,
    });
    return [response.statusCode, /<h1[^>]*>([^<]*)</.exec(await response.body.text())?.[1]];
  };
  const unread = 'We could not read this';
  assert.deepEqual(await ask('/portal/sign-in', { body: 'email=a%00b' }), [400, unread]);
  assert.deepEqual(await ask('/portal/sign-in', { body: 'email%00=a' }), [400, unread]);
  assert.deepEqual(await ask('/portal/sign-in?lang=%00'), [400, unread]);
  assert.deepEqual(await ask('/logo/%00'), [404, 'Page not found']);
  assert.deepEqual(await ask('/portal/sign-in', { body: '{"email":"a"}', type: 'application/json' }), [415, unread]);
});

test('Only 512 characters of a user agent are read, also where previews are distinguished from people', async () => {
  const { test: scope } = await makePartner(app.db);
  const merchant = await makeOnboarded(app.ctx, scope);
  const opened = async (userAgent: string) => {
    const { id } = await makeRequest(app.db, scope, merchant);
    await visit(`${app.url}/pay/${id}`, { headers: { 'user-agent': userAgent } });
    const [row] = await app.db.sql`select status from requests where id = ${id}`;
    return row?.status === 'opened';
  };
  assert.equal(await opened(`${'a'.repeat(500)} googlebot`), false);
  assert.equal(await opened(`${'a'.repeat(512)} googlebot`), true);
});
