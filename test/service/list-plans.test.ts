import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { lockPlan, selectPlanOfForm } from '../../src/plans/store.ts';
import { selectCreateFacts } from '../../src/requests/create-in-scope-store.ts';
import { send } from '../support/api/client.ts';
import { startApp } from '../support/app.ts';
import { openOne } from '../support/database.ts';
import { makeKey, makePartner } from '../support/fixtures.ts';
import { makeCrowd, many } from '../support/many-rows.ts';
import { paymentStatements } from '../support/payment-statements.ts';
import { sessionOf } from '../support/people/dashboard.ts';
import { signInOperator } from '../support/people/people.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { startVisitor } from '../support/people/visitor.ts';
import {
  type Explained,
  type Mode,
  openExplainer,
  pagesRead,
  rowsRead,
  scopeChecks,
  sentDuring,
} from '../support/query-plans.ts';

/**
 * A statement for a page of 50 or 100 may read at most this many rows and memory pages, a thirtieth of the partner's, and
 * check its scope this often: once for each table, or for each state, but not for each row.
 */
const most = { rows: 3_000, pages: 4_500, checks: 40 };
/** How many requests a search without an index reads at once before it checks the time. */
const batch = 10_000;
/** The depth of the lists in this test: skipped rows are read as well. */
const deep = 90_000;

type Open = (path: string) => Promise<{ status: number; html?: string }>;
let app: Awaited<ReturnType<typeof startApp>>;
let scope: Scope;
let crowd: Awaited<ReturnType<typeof makeCrowd>>;
let explainer: ReturnType<typeof openExplainer>;
const realms: Record<string, Open> = {};
before(async () => {
  // The test reads pages faster than the limit allows people to, so each read counts at a different time.
  let reads = 0;
  app = await startApp({ clock: { now: () => new Date(Date.now() + reads++ * 10) } });
  const { partner, test } = await makePartner(app.db, { slug: 'crowd' });
  scope = test;
  const { key } = await makeKey(app.db, scope);
  const portal = await portalVisitor(app.ctx, app.url, partner.id);
  const { visitor: admin } = await signInOperator(app);
  crowd = await makeCrowd(app.db, app.databaseUrl, scope);
  const dashboard = startVisitor(app.url);
  const [{ wallet_address: wallet } = { wallet_address: '' }] = await app.db.sql<{ wallet_address: string }[]>`
    select wallet_address from merchants where id = ${crowd.accountId}`;
  dashboard.cookies.set('dashboard-session', await sessionOf(app.ctx, scope, { id: crowd.accountId, wallet }));
  Object.assign(realms, { portal: portal.open, admin: admin.open, dashboard: dashboard.open });
  realms.api = async (path) => {
    await app.db.sql`delete from rate_counters`;
    return send(app.url, 'GET', path, { key });
  };
  explainer = openExplainer(app.databaseUrl);
});
after(async () => {
  await explainer?.end();
  await app.stop();
});

/** Every combination of filter values. undefined leaves a filter out. */
function combinations(filters: Record<string, readonly (string | undefined)[]>): string[] {
  const queries = Object.entries(filters).reduce<Record<string, string>[]>(
    (all, [name, values]) =>
      all.flatMap((query) => values.map((value) => (value === undefined ? query : { ...query, [name]: value }))),
    [{}],
  );
  return queries.map((query) => `?${new URLSearchParams(query)}`);
}

/** Reads the plans of all statements that a call makes the service send. */
async function read(
  realm: string,
  path: string,
  more: Partial<typeof most> = {},
  explained: Explained = new Map(),
  modes: readonly Mode[] = ['force_custom_plan', 'force_generic_plan'],
): Promise<string[]> {
  const allowed = { ...most, ...more };
  const sent = await sentDuring(app.db, async () => assert.equal((await realms[realm]?.(path))?.status, 200, path));
  const faults: string[] = [];
  for (const mode of modes) {
    for (const plan of await explainer.explain(sent, mode, explained)) {
      const [rows, pages, checks] = [rowsRead(plan), pagesRead(plan), scopeChecks(plan)];
      if (rows > allowed.rows || pages > allowed.pages || checks > allowed.checks)
        faults.push(`${path} (${mode}): ${rows} rows, ${pages} pages, ${checks} checks of the scope`);
    }
  }
  return faults;
}

/** Fails with all calls of a list that read too much. */
async function readAll(realm: string, path: string, queries: string[], allowed?: Partial<typeof most>): Promise<void> {
  const faults: string[] = [];
  const explained: Explained = new Map(); // reading a list changes nothing that its statements read
  for (const query of queries) faults.push(...(await read(realm, path + query, allowed, explained)));
  assert.deepEqual(faults, []);
}

const statuses = [undefined, 'requested', 'opened', 'expired', 'voided'];
const proofs = [undefined, 'none', 'attached', 'verified'];
const oldest = () => new Date(Date.now() - (many - 30) * 1000).toISOString();
const lately = () => new Date(Date.now() - 60_000).toISOString();
const nobody = '00000000-0000-4000-8000-000000000000';

test('GET requests › every status with every proof, of all merchants and of one, whole and in part → reads no partner', async () => {
  const account_id = [undefined, crowd.accountId, crowd.otherId];
  const base = { status: statuses, proof_status: proofs, account_id };
  await readAll('api', '/api/v1/requests', combinations(base));
  const parts = { since: [undefined, lately()], until: [undefined, oldest()] };
  const some = {
    status: [undefined, 'expired', 'opened'],
    proof_status: [undefined, 'none', 'verified'],
    account_id: account_id.slice(0, 2),
  };
  await readAll('api', '/api/v1/requests', combinations({ ...some, ...parts }));
});

test('GET requests › far into the list → reads what is skipped from an index, and only what is shown from the table', async () => {
  const filters = {
    status: [undefined, 'expired'],
    proof_status: [undefined, 'none'],
    limit: ['100'],
    offset: [String(deep)],
  };
  await readAll('api', '/api/v1/requests', combinations(filters), { rows: deep + most.rows, pages: 1_500 });
});

test('GET accounts › every state → reads no partner', async () => {
  const filters = { onboarding_status: [undefined, 'complete', 'incomplete'], disabled: [undefined, 'true', 'false'] };
  await readAll('api', '/api/v1/accounts', combinations(filters));
});

/** As the portal's list shows them. */
const shown = [
  ...[undefined, 'requested', 'opened', 'underpaid', 'confirming', 'paid', 'paidTwice', 'overpaid'],
  ...['expired', 'late', 'voided', 'paidVoided'],
];

test('Portal › lists of requests by every filter → reads no partner', async () => {
  const filters = { status: shown, account_id: [undefined, crowd.accountId, crowd.otherId] };
  await readAll('portal', '/portal/requests', combinations(filters));
  const after = [undefined, String(Date.now() - (many - 30) * 1000)];
  const concern = [undefined, 'underpaid', 'overpaid', 'late', 'voided', 'twice', 'replayed'];
  const some = [undefined, 'expired', 'voided'];
  await readAll('portal', '/portal/requests', combinations({ concern, status: some, after }));
  const q = [nobody, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`, '00000000', 'ada@example.com', '12.50'];
  const parts = { since: [undefined, lately()], until: [undefined, oldest()] };
  const batches = { rows: batch + most.rows, pages: batch + most.pages };
  await readAll('portal', '/portal/requests', combinations({ q, status: [...some, 'paid', 'late'] }), batches);
  const words = { q: ['nobody has this', '12.51'], account_id: [undefined, crowd.accountId] };
  await readAll('portal', '/portal/requests', combinations({ ...words, ...parts }), batches);
  // As far as the time went; a fast machine comes to the end.
  const said = /Searched the newest [\d,]+ requests?\. Choose dates|No requests match/;
  assert.match((await realms.portal?.('/portal/requests?q=nobody'))?.html ?? '', said);
  await readAll(
    'portal',
    '/portal/requests',
    combinations({ status: [...some, 'paid', 'requested', 'overpaid'], ...parts }),
  );
});

test('Portal › requests of several merchants that a name means → reads a page of each', async () => {
  const filters = { account_id: ['Shop', 'nobody has this'], status: shown };
  await readAll('portal', '/portal/requests', combinations(filters), { rows: 20_000, pages: 20_000, checks: 250 });
});

test('Portal › lists of merchants by every filter → reads no partner', async () => {
  const [last] = await app.db.sql`select id from merchants order by created_at offset 20 limit 1`;
  const filters = {
    onboarding: [undefined, 'complete', 'incomplete'],
    disabled: [undefined, 'partner', 'operator', 'none'],
  };
  const q = [undefined, nobody, `0x${'0'.repeat(40)}`, 'nobody has this', 'shop'];
  await readAll('portal', '/portal/merchants', combinations({ ...filters, q, after: [undefined, last?.id] }));
});

test('Portal › lists of unmatched payments by every filter → reads no partner', async () => {
  const reason = [undefined, 'no_match', 'late', 'wrong_token', 'already_paid', 'ambiguous'];
  const account_id = [undefined, crowd.accountId, crowd.otherId];
  const parts = { since: [undefined, lately()], until: [undefined, oldest()] };
  await readAll('portal', '/portal/unmatched', combinations({ reason, account_id, ...parts }));
  const names = { reason, account_id: ['Shop'] };
  await readAll('portal', '/portal/unmatched', combinations(names), { rows: 8_000, pages: 8_000, checks: 250 });
  const after = `${Math.floor(Date.now() / 1000 - many + 30) * 1000}_31337_0x${'f'.repeat(64)}_0`;
  await readAll('portal', '/portal/unmatched', combinations({ reason, account_id, after: [after] }));
  const q = [nobody, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`, 'nobody'];
  await readAll('portal', '/portal/unmatched', combinations({ reason: reason.slice(0, 3), account_id, q }));
});

test('Portal › lists of plans by every filter → reads no partner', async () => {
  const filters = {
    state: [undefined, 'active', 'failing', 'paused', 'ended'],
    account_id: [undefined, crowd.accountId, crowd.otherId],
    after: [undefined, `${Date.now() - (many - 30) * 1000}-${nobody}`],
  };
  await readAll('portal', '/portal/plans', combinations(filters));
});

test('Portal › lists of deliveries by every filter → reads no partner', async () => {
  const [last] = await app.db.sql`select id from webhook_deliveries order by created_at offset 20 limit 1`;
  const state = [undefined, 'failed', 'waiting', 'delivered', 'exhausted'];
  const parts = { since: [undefined, lately()], until: [undefined, oldest()] };
  const filters = { state, request_id: [undefined, nobody], after: [undefined, last?.id], ...parts };
  await readAll('portal', '/portal/webhooks/deliveries', combinations(filters));
});

const logFilters = () => ({
  action: [undefined, 'key.revoked', 'merchant.disabled', 'merchant.enabled', 'plan.retried'],
  actor: [undefined, 'ada@example.com', 'bo@example.com', 'cy@example.com', 'nobody'],
  since: [undefined, new Date().toISOString()],
  until: [undefined, new Date(Date.now() - (many - 60) * 60_000).toISOString()],
  after: [undefined, '40'],
});

test('Portal and administration › the log by every filter → reads no partner', async () => {
  await readAll('portal', '/portal/audit', combinations(logFilters()));
  await readAll('admin', '/admin/audit', combinations({ ...logFilters(), partner: ['crowd'], after: [undefined] }));
});

test('Portal › pages beside the lists → read no partner', async () => {
  for (const path of ['/webhooks', '/settings', '/start', '/keys']) await readAll('portal', `/portal${path}`, ['']);
});

test('Dashboard › payments, unmatched payments and plans by every filter → reads no merchant', async () => {
  const state = [undefined, 'open', 'part', 'confirming', 'paid', 'expired', 'voided'];
  const after = [undefined, `${Date.now() - (many - 30) * 1000}-${nobody}`];
  const parts = { since: [undefined, lately().slice(0, 10)], until: [undefined, oldest()] };
  await readAll('dashboard', '/dashboard/payments', combinations({ state, after, ...parts }));
  const q = [nobody, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`];
  const words = { rows: batch + most.rows, pages: batch + most.pages };
  await readAll('dashboard', '/dashboard/payments', combinations({ state, q: [...q, 'nobody has this'] }), words);
  const place = `${Math.floor(Date.now() / 1000 - many + 30) * 1000}_31337_0x${'f'.repeat(64)}_0`;
  await readAll('dashboard', '/dashboard/unmatched', ['', `?after=${place}`]);
  // The candidates for an unmatched payment are searched among as many unpaid requests as a search reads at once.
  const [stray] = await app.db.sql`select chain_id, tx_hash, ordinal from transfers
    where account_id = ${crowd.accountId} and request_id is null and reason is null order by block_time desc limit 1`;
  const key = `${stray?.chain_id}_${stray?.tx_hash}_${stray?.ordinal}`;
  await readAll('dashboard', `/dashboard/unmatched/${key}`, [''], { rows: 2 * batch + most.rows });
  const displayStatus = [undefined, 'active', 'failing', 'paused', 'ended'];
  await readAll('dashboard', '/dashboard/plans', combinations({ state: displayStatus, after }));
});

test('lists of open requests, of a partner without any › none of the many open requests of others is read', async () => {
  const others = openOne(app.databaseUrl, { session_replication_role: 'replica' });
  await others`
    insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate, payment_mode,
      metadata, wallet_address, reference, start_blocks, created_at, expires_at, status)
    select md5('partner ' || n % 400)::uuid, true, gen_random_uuid(), md5('merchant ' || n % 1200)::uuid, 1250, 'EUR', 1, false,
      '1', 'pos', '{}', '0x', uuid_send(gen_random_uuid()), '{}', now() - n * interval '1 second', now() + interval '1 day',
      case when n % 2 = 0 then 'requested' else 'opened' end from generate_series(1, 10000) n`;
  await others`analyze requests`;
  await others.end();
  const status = ['requested', 'opened'];
  const account_id = [undefined, crowd.accountId];
  const until = [undefined, oldest()];
  const calls = [
    ...combinations({ status, proof_status: ['none'], account_id, until }).map((query) => [
      'api',
      '/api/v1/requests',
      query,
    ]),
    ...combinations({ status, account_id, until }).map((query) => ['portal', '/portal/requests', query]),
    ...combinations({ state: ['open'], until }).map((query) => ['dashboard', '/dashboard/payments', query]),
  ] as const;
  const faults: string[] = [];
  for (const [realm = '', path, query] of calls)
    faults.push(...(await read(realm, `${path}${query}`, { rows: 500 }, new Map(), ['auto'])));
  assert.deepEqual(faults, []);
});

/** One row is looked up by its key, beside the few that a page shows with it. */
const handful = { rows: 400, pages: 800 };

test('one request, plan, merchant and delivery of those with most → a handful of rows is read', async () => {
  const [request] = await app.db.sql`select id from requests where proof_status = 'verified' limit 1`;
  const [delivery] = await app.db.sql`select id from webhook_deliveries where request_id = ${request?.id}`;
  const [plan] = await app.db.sql`select id from plans where account_id = ${crowd.accountId} and state = 'active'`;
  const paths: [realm: string, path: string][] = [
    ['api', `/api/v1/requests/${request?.id}`],
    ['api', `/api/v1/accounts/${crowd.accountId}`],
    ['portal', `/portal/requests/${request?.id}`],
    ['portal', `/portal/plans/${plan?.id}`],
    ['portal', `/portal/webhooks/deliveries/${delivery?.id}`],
    ['dashboard', `/dashboard/payments/${request?.id}`],
    ['dashboard', `/dashboard/plans/${plan?.id}`],
  ];
  const faults: string[] = [];
  for (const [realm, path] of paths) faults.push(...(await read(realm, path, handful)));
  assert.deepEqual(faults, []);
});

test('a form or a create sent again → its plan or request is found by its key alone', async () => {
  const { db } = app;
  const key = 'a'.repeat(32);
  await db.sql`update requests set idempotency_key = ${key}
    where id = (select id from requests where account_id = ${crowd.accountId} limit 1)`;
  const body = { account_id: crowd.accountId, idempotency_key: key };
  const lookups: Record<string, () => Promise<unknown>> = {
    'a request': () => selectCreateFacts(db.sql, scope, body),
    'a plan of the dashboard': () => db.scoped(scope, (tx) => selectPlanOfForm(tx, scope, crowd.accountId, '31337')),
    'a plan by its id': () => db.scoped(scope, (tx) => lockPlan(tx, scope, crowd.accountId, nobody)),
  };
  const found: Record<string, number> = {};
  for (const [name, lookUp] of Object.entries(lookups)) {
    const sent = await sentDuring(db, lookUp);
    for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
      const plans = await explainer.explain(sent, mode);
      found[`${name} (${mode})`] = plans.reduce((sum, plan) => sum + rowsRead(plan), 0);
    }
  }
  assert.ok(
    Object.values(found).every((rows) => rows <= 20),
    JSON.stringify(found),
  );
});

test('payments of a merchant with most requests, matched and verified together → each one’s own rows are read', async () => {
  const { db } = app;
  const { statements, payments } = await paymentStatements(db, crowd.accountId);
  const found: Record<string, number> = {};
  for (const [name, send] of Object.entries(statements)) {
    const sent = await sentDuring(db, () => db.transaction(send));
    for (const mode of ['force_custom_plan', 'force_generic_plan'] as const) {
      const plans = await explainer.explain(sent, mode);
      found[`${name} (${mode})`] = plans.reduce((sum, plan) => sum + rowsRead(plan), 0) / payments;
    }
  }
  assert.ok(
    Object.values(found).every((rows) => rows <= 10),
    JSON.stringify(found),
  );
});

test('Administration › lists of merchants and people by every filter, and what is stuck → reads no partner', async () => {
  const partner = [undefined, 'crowd', 'nobody'];
  const { terms, q } = {
    terms: [undefined, '1', '2'],
    q: [undefined, nobody, `0x${'0'.repeat(40)}`, 'nobody has this', 'shop'],
  };
  const after = [undefined, `${Date.now() - (many - 30) * 1000}-${nobody}`];
  const filters = { mode: [undefined, 'test', 'live'], switch: [undefined, 'partner', 'operator', 'none'] };
  const onboarding = [undefined, 'complete', 'incomplete'];
  await readAll('admin', '/admin/merchants', combinations({ partner, ...filters, onboarding }));
  await readAll('admin', '/admin/merchants', combinations({ partner, onboarding, q, after, mode: filters.mode }));
  await readAll(
    'admin',
    '/admin/merchants',
    combinations({ terms, switch: filters.switch, mode: filters.mode, after }),
  );
  const people = {
    partner: [undefined, 'crowd', 'operators'],
    state: [undefined, 'on', 'off'],
    q: [undefined, 'nobody', 'example'],
  };
  await readAll('admin', '/admin/users', combinations(people));
  const names = { q: [nobody, '00000000', `0x${'0'.repeat(64)}`, `0x${'0'.repeat(40)}`, '12.50', 'nobody has this'] };
  const words = { rows: batch + most.rows, pages: batch + most.pages };
  await readAll('admin', '/admin/search', combinations({ ...names, partner: [undefined, 'crowd'] }), words);
  for (const path of ['/stuck', '/partners']) await readAll('admin', `/admin${path}`, ['']);
});
