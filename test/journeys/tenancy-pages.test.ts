import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, before, test } from 'node:test';
import { request } from 'undici';
import { theService } from '../../src/audit/write.ts';
import type { Role } from '../../src/auth/roles.ts';
import type { Scope } from '../../src/db/connection.ts';
import { createShell } from '../../src/merchants/create.ts';
import { setUrl } from '../../src/webhooks/endpoint.ts';
import { startApp, testConfig } from '../support/app.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makeKey, makePartner, makeRequest, setRate } from '../support/fixtures.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { visit } from '../support/people/forms.ts';
import { makeOnboarded, type Onboarded } from '../support/people/merchants.ts';
import { invitePartnerUser } from '../support/people/people.ts';
import { portalPerson } from '../support/people/portal.ts';
import { type Found, found, type Route, routesOf, watchReads } from '../support/people/routes.ts';
import { makePlan, turnAt } from '../support/plans.ts';

/**
 * Every address and form that a partner's owner and its merchants meet, with the ids in them, is opened and sent by
 * others who are signed in. No route is listed, so later ones are covered too.
 */
let app: Awaited<ReturnType<typeof startApp>>;
let routes: Route[];

type Owner = Awaited<ReturnType<typeof makePartner>>;
/** `word` stands in each name, memo and address of the merchant's data, and nowhere else. */
type Shop = { scope: Scope; word: string; merchant: Onboarded; shellId: string; starts: string[] };
let owner: Owner;
let stranger: Owner;
let ours: Shop;
let live: Shop;
let sister: Shop;
let foreign: Shop;
let ofPortal: Found[];
let ofDashboard: Found[];
const reads = watchReads();

before(async () => {
  app = await startApp({ config: testConfig({ trustProxy: ['127.0.0.1/32'] }) });
  await setRate(app.db, 'EUR', '0.92');
  routes = routesOf(app.app.printRoutes({ commonPrefix: false }));
  [owner, stranger] = await Promise.all([makePartner(app.db), makePartner(app.db)]);
  ours = await makeShop(owner.test, 'Zirkonia');
  live = await makeShop(owner.live, 'Malachit');
  sister = await makeShop(owner.test, 'Obsidian');
  foreign = await makeShop(stranger.test, 'Karneol');
  await invitePartnerUser(app.ctx, owner, 'viewer');
  ofPortal = await placesOf(userOf(owner), ['/portal?mode=test'], '/portal');
  ofDashboard = await placesOf(merchantOf(ours), ['/dashboard', ...ours.starts], '/dashboard');
});
after(async () => {
  reads.stop();
  await app?.stop();
});

/** A merchant with some of everything, and paths to start following links from. */
async function makeShop(scope: Scope, word: string): Promise<Shop> {
  const { ctx, db } = app;
  const merchant = await makeOnboarded(ctx, scope, { business_name: `${word} Bakery`, email: `shop@${word}.example` });
  const customer = { customerName: `${word} Hopper`, customerEmail: `grace@${word}.example` };
  const details = { ...customer, memo: `${word} loaves`, metadata: JSON.stringify({ order: word }) };
  const paying = await makeRequest(db, scope, merchant, details);
  await makeRequest(db, scope, merchant, { ...details, fiatInt: 700, exactMicro: 7_000_000n });
  await makePlan(ctx, scope, merchant, { name: `${word} lessons`, ...customer, firstOn: '2026-01-31' });
  await turnAt(ctx, '2026-01-31T00:00:00.000Z');
  await makeEvents(db, scope, 1, JSON.stringify({ order: word }));
  await setUrl(ctx, theService, scope, `http://127.0.0.1:9/hidden/${word}`);
  const shell = await createShell(ctx, theService, scope, { business_name: `${word} Kiosk`, display_currency: 'EUR' });
  await makeKey(db, scope);
  const chainId = scope.testMode ? 31337 : 31338;
  const [free, refunding] = [0, 1].map(() => `0x${randomBytes(32).toString('hex')}`) as [string, string];
  const [token, payer] = [`0x${'5f'.repeat(20)}`, `0x${'ab'.repeat(20)}`];
  await db.sql`
    insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
      to_address, value, partner_id, test_mode, account_id, reason, judged_at, final_at)
    select ${chainId}, tx_hash, 0, 1, '0x', now(), ${token}, ${payer}, ${merchant.wallet}, 50000000, ${scope.partnerId},
      ${scope.testMode}, ${merchant.id}, 'no_match', now(), now() from unnest(${[free, refunding]}::text[]) as tx_hash`;
  await db.sql`
    insert into returns (partner_id, test_mode, chain_id, tx_hash, ordinal, account_id, token_address, from_address,
      to_address, usdc_micro, state, noted_at)
    values (${scope.partnerId}, ${scope.testMode}, ${chainId}, ${refunding}, 0, ${merchant.id}, ${token},
      ${merchant.wallet}, ${payer}, 50000000, 'returning', now())`;
  return {
    scope,
    word,
    merchant,
    shellId: shell.id,
    starts: [`/dashboard/give-back/${chainId}_${refunding}_0`, `/pay/${paying.id}`],
  };
}

type Headers = Record<string, string>;
/** Signs in anew, since a form may have ended the session or removed the user. */
type Person = () => Promise<Headers>;

const merchantOf =
  ({ scope, merchant }: Shop): Person =>
  async () => ({ cookie: `dashboard-session=${await sessionOf(app.ctx, scope, merchant)}` });
const userOf =
  ({ partner }: Owner, role: Role = 'owner'): Person =>
  async () => ({ cookie: `portal-session=${(await portalPerson(app.ctx, partner.id, role)).token}` });

const newClient = () => `198.${randomInt(18, 20)}.${randomInt(256)}.${randomInt(256)}`;

/** All addresses and forms below a path that a person meets. */
async function placesOf(person: Person, starts: string[], below: string): Promise<Found[]> {
  const headers = await person();
  const open = (path: string) => visit(app.url + path, { headers: { ...headers, 'x-forwarded-for': newClient() } });
  const places = await found(routes, starts, new URL(app.ctx.config.baseUrl).origin, open);
  return [...places.values()].filter(({ pattern }) => pattern.startsWith(below)).map(typed);
}

/** What is typed into fields that a page shows empty, so that forms do what they are for. */
const entries: Headers = { amount: '5.00', email: 'new@example.com', name: 'Lessons', customer_name: 'Ada' };

/** A place whose form is filled in. Nothing typed holds the words by which data is recognised. */
function typed(place: Found): Found {
  const filled = Object.entries(place.fields).map(([name, value]) => {
    const own = value.replace(/Zirkonia|Malachit|Obsidian/g, 'Typed');
    return [name, own || entries[name] || ''];
  });
  return { ...place, fields: Object.fromEntries(filled) };
}

async function send({ method, path, fields }: Found, headers: Headers): Promise<{ status: number; text: string }> {
  const isForm = method === 'POST';
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(app.url + path, {
    method,
    headers: {
      'sec-fetch-site': 'same-origin',
      'x-forwarded-for': newClient(),
      ...headers,
      ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
    },
    body: isForm
      ? new URLSearchParams([...Object.entries(fields), ['scopes', 'requests:read'], ['expiry', '15']]).toString()
      : null,
  });
  const isStream = String(answered['content-type']).startsWith('text/event-stream');
  if (isStream) body.on('error', () => {}).destroy();
  return { status: statusCode, text: isStream ? '' : await body.text() };
}

/** All rows of the owner that hold such a text. Of sessions only whether they were ended, as using one changes it. */
async function rowsHolding(texts: RegExp): Promise<string> {
  const tables = await app.owner<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace
      and a.attname = 'partner_id' and not a.attisdropped and c.relname not in ('rate_counters', 'day_counters')`;
  const selects = ['partners', ...tables.map(({ name }) => name)].map((name) => {
    const row = name === 'sessions' ? '(t.id, t.user_id, t.account_id, t.revoked_at)' : 't';
    return `select '${name} ' || ${row}::text as row from ${name} t
      where ${name === 'partners' ? 'id' : 'partner_id'} = '${owner.partner.id}'`;
  });
  const rows = await app.owner.unsafe<{ row: string }[]>(selects.join(' union all '));
  const kept = rows.map(({ row }) => row).filter((row) => texts.test(row));
  return kept.sort().join('\n');
}

/** What tells the rows of a merchant, and of its partner's keys and events in its mode. */
async function marksOf({ scope, merchant, word }: Shop): Promise<RegExp> {
  const { partnerId, testMode } = scope;
  const rows = await app.owner<{ id: string }[]>`
    select id::text from requests where account_id = ${merchant.id}
    union all select id::text from plans where account_id = ${merchant.id}
    union all select tx_hash from transfers where account_id = ${merchant.id}
    union all select id::text from api_keys where partner_id = ${partnerId} and test_mode = ${testMode}
    union all select id::text from webhook_deliveries where partner_id = ${partnerId} and test_mode = ${testMode}`;
  return new RegExp([merchant.id, word, ...rows.map(({ id }) => id)].join('|'));
}

/** Whom the data belongs to: `words` must appear on no page, and no row that holds `marks` may change. */
type Kept = { words: RegExp; marks: RegExp };

/** A page with each parameter that it reads naming something of ours in turn: as a filter, a search or a cursor. */
async function asked(place: Found): Promise<Found[]> {
  const { merchant } = ours;
  const [row] = await app.owner<{ request: string; hash: string }[]>`
    select (select id::text from requests where account_id = ${merchant.id} limit 1) as request,
      (select tx_hash from transfers where account_id = ${merchant.id} limit 1) as hash`;
  const values = [merchant.id, row?.request ?? '', row?.hash ?? ''];
  const names = [...reads.of(place).query].filter((name) => name !== 'mode');
  return names.flatMap((name) =>
    values.map((value) => {
      const url = new URL(place.path, app.url);
      url.searchParams.set(name, value);
      return { ...place, path: url.pathname + url.search };
    }),
  );
}

/** Opens and sends all of these as somebody else. Pages come first, since forms store what was typed. */
async function tryAll(person: Person, places: Found[], { words, marks }: Kept, more: Headers = {}): Promise<void> {
  const faults: string[] = [];
  const inOrder = places.toSorted((a, b) => a.method.localeCompare(b.method));
  assert.ok(inOrder.length > 20);
  const reader = await person();
  const one = async (place: Found) => {
    const headers = { ...(place.method === 'GET' ? reader : await person()), ...more };
    const before = place.method === 'POST' ? await rowsHolding(marks) : '';
    const { status, text } = await send(place, headers);
    const after = place.method === 'POST' ? await rowsHolding(marks) : '';
    const what = `${status} ${place.method} ${place.path}`;
    if (words.test(text)) faults.push(`${what} shows ${words.exec(text)}`);
    if (after !== before) faults.push(`${what} changes something`);
    if (status >= 500) faults.push(what);
  };
  for (const place of inOrder) {
    await one(place);
    if (place.method === 'GET') for (const further of await asked(place)) await one(further);
  }
  assert.deepEqual(faults, []);
}

const ofAll = () => new RegExp([ours, live, sister].map(({ word }) => word).join('|'));
const ofOwner = (): Kept => ({ words: ofAll(), marks: /^/ });
const ofOurs = async (): Promise<Kept> => ({ words: new RegExp(ours.word), marks: await marksOf(ours) });
const inMode = (mode: string) => (place: Found) => {
  const url = new URL(place.path, app.url);
  url.searchParams.set('mode', mode);
  return { ...place, path: url.pathname + url.search };
};
const onStrangersHost = () => ({ host: `${stranger.partner.slug}.localhost:3000` });

test('Another partner’s owner with a partner’s addresses and forms, in either mode → sees and changes nothing of it', async () => {
  await tryAll(userOf(stranger), ofPortal, ofOwner());
  await tryAll(userOf(stranger), ofPortal.map(inMode('live')), ofOwner());
});

test('An owner with the addresses and forms of test mode in live mode → sees and changes nothing of a test merchant', async () => {
  // The team, settings and audit log are the same in both modes.
  const ofMode = ofPortal.filter(({ pattern }) => !/^\/portal\/(audit|team|settings)/.test(pattern));
  await tryAll(userOf(owner), ofMode.map(inMode('live')), await ofOurs());
});

test('Another partner’s merchant with a merchant’s addresses and forms → sees and changes nothing of its partner', async () => {
  await tryAll(merchantOf(foreign), ofDashboard, ofOwner());
});

test('A merchant of the same partner, in the same or the other mode → sees and changes nothing of it', async () => {
  await tryAll(merchantOf(sister), ofDashboard, await ofOurs());
  await tryAll(merchantOf(live), ofDashboard, await ofOurs());
});

test('On another partner’s own host the owner and the merchant themselves see and change nothing', async () => {
  await tryAll(userOf(owner), ofPortal, ofOwner(), onStrangersHost());
  await tryAll(merchantOf(ours), ofDashboard, ofOwner(), onStrangersHost());
});

/** What lets somebody act: keys, what can be seen of them, onboarding links, a webhook's path and secret. */
const secrets = /qt_(?:test|live)_?\w*…\w{4}|\/onboard\/[\w-]{20}|\/hidden\/|whsec_[\w+/]{20}/;

test('No page or file shows a viewer what lets somebody act, nor onboarding links to a developer in live mode', async () => {
  const shownTo = async (person: Person, mode: string, what: RegExp) => {
    const { shellId } = mode === 'live' ? live : ours;
    const starts = [`/portal/merchants/${shellId}?mode=${mode}`, `/portal?mode=${mode}`];
    const places = await placesOf(person, starts, '/portal');
    const headers = await person();
    const shown: string[] = [];
    for (const place of places.filter(({ method }) => method === 'GET').map(inMode(mode)))
      if (what.test((await send(place, headers)).text)) shown.push(place.pattern);
    return shown;
  };
  for (const mode of ['test', 'live']) {
    assert.deepEqual(await shownTo(userOf(owner, 'viewer'), mode, secrets), [], mode);
    const owners = await shownTo(userOf(owner), mode, secrets);
    for (const known of ['/portal/keys', '/portal/webhooks', '/portal/merchants/:account_id'])
      assert.ok(owners.includes(known), `${mode} ${known}: ${owners}`);
  }
  assert.deepEqual(await shownTo(userOf(owner, 'developer'), 'live', /\/onboard\/[\w-]{20}/), []);
});

test('The users of a partner that is switched off read, and change nothing but their own sign-in', async () => {
  const own = /^\/portal\/(sessions|sign-out|passkeys|sign-in|link)/;
  await app.db.sql`update partners set disabled_at = now() where id = ${owner.partner.id}`;
  const forms = ofPortal.filter(({ pattern, method }) => method === 'POST' && !own.test(pattern));
  await tryAll(userOf(owner), forms, { words: /(?!)/, marks: /^/ });
  await app.db.sql`update partners set disabled_at = null where id = ${owner.partner.id}`;
});

test('Sent by whom they are for, most of these forms change something, and pages show the words', async () => {
  const [shown, changing]: [string[], string[]] = [[], []];
  for (const [person, places] of [
    [merchantOf(ours), ofDashboard],
    [userOf(owner), ofPortal],
  ] as const) {
    for (const place of places.toSorted((a, b) => a.method.localeCompare(b.method))) {
      const headers = await person();
      const before = await rowsHolding(/^/);
      const { text } = await send(place, headers);
      if (new RegExp(ours.word).test(text)) shown.push(place.pattern);
      if (place.method === 'POST' && (await rowsHolding(/^/)) !== before) changing.push(place.pattern);
    }
  }
  assert.ok(shown.length > 20, shown.join('\n'));
  for (const known of ['/dashboard/payments/:id', '/portal/requests.csv']) assert.ok(shown.includes(known), known);
  assert.ok(changing.length > 20, changing.join('\n'));
  const acts = [
    '/dashboard/give-back/:key/put-back',
    '/dashboard/plans/:id/end',
    '/portal/keys/revoke',
    '/portal/merchants/:account_id/disable',
  ];
  for (const known of acts) assert.ok(changing.includes(known), known);
});
