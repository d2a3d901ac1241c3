import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { theService } from '../../src/audit/write.ts';
import type { Context } from '../../src/context.ts';
import { list } from '../../src/db/sql.ts';
import { buildServer } from '../../src/http/server.ts';
import { encrypt } from '../../src/lib/encrypt.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { mineWhileWaiting } from '../../src/sandbox/mining.ts';
import { portalTexts } from '../../src/texts/portal.ts';
import { startDelivering } from '../../src/webhooks/deliver.ts';
import { readEndpoint, setUrl } from '../../src/webhooks/endpoint.ts';
import { verifySignature } from '../../src/webhooks/sign.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makePartner, setRate } from '../support/fixtures.ts';
import { behaviours, type Receiver, startReceiver } from '../support/net/receiver.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { portalVisitor } from '../support/people/portal.ts';
import { postForm } from '../support/people/portal-post.ts';
import type { Visitor } from '../support/people/visitor.ts';
import { repeat } from '../support/repeat.ts';
import { until } from '../support/until.ts';

let fixtures: PayFixtures;
let ctx: Context;
let app: FastifyInstance;
let url: string;
let receiver: Receiver;
const stop = new AbortController();
let loops: Promise<unknown>;
const path = '/portal/webhooks';

before(async () => {
  [fixtures, receiver] = await Promise.all([payFixtures(), startReceiver()]);
  ctx = { ...fixtures.ctx, config: { ...fixtures.ctx.config, webhookScheduleMs: [0, 100, 60_000] } };
  await setRate(ctx.db, 'EUR', '0.92');
  app = await buildServer(ctx);
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  // The loops that the service runs.
  loops = Promise.all([
    repeat(() => matchPending(ctx), 50, stop.signal),
    repeat(() => verifyFinal(ctx), 50, stop.signal),
    repeat(() => mineWhileWaiting(ctx), 500, stop.signal),
    startDelivering(ctx, stop.signal),
  ]);
});
after(async () => {
  stop.abort();
  await loops;
  await app?.close();
  await receiver?.close();
  await fixtures?.stop();
});

/** A new partner, with an owner in the portal. */
async function newPartner() {
  const made = await makePartner(ctx.db);
  return { ...made, owner: await portalVisitor(ctx, url, made.partner.id) };
}

const typeUrl = async (visitor: Visitor, address: string, mode = 'test') =>
  visitor.send(await visitor.open(`${path}?mode=${mode}`), `${path}/url?mode=${mode}`, { url: address });
const secretOn = (html: string) => /data-copy="(whsec_[^"]+)"/.exec(html)?.[1]?.replaceAll('&#x2F;', '/');
const stateOf = async (id: string) => {
  const [row] = await ctx.db.sql`select state, attempts from webhook_deliveries where id = ${id}`;
  return row;
};
const actions = async (partnerId: string) =>
  (await ctx.db.sql`select action from audit_log where partner_id = ${partnerId} order by number`).map(
    ({ action }) => action,
  );

test('a URL › the secret is shown with the first one only, and is the one that signs', async () => {
  const { partner, test: scope, owner } = await newPartner();
  const set = await typeUrl(owner, receiver.url);
  const secret = secretOn(set.html) ?? assert.fail('no secret on the page');
  assert.match(set.html, /<div role="status">[\s\S]*?Your signing secret/, 'a screen reader says that it is there');
  assert.equal((await readEndpoint(ctx, scope))?.secret, secret);
  const later = await typeUrl(owner, `${receiver.url}?x=1`);
  assert.match(later.html, /The URL was saved\. The signing secret stays/);
  assert.ok(!later.html.includes(secret) && !(await owner.open(path)).html.includes(secret));
  const [id] = await makeEvents(ctx.db, scope);
  await until(() => receiver.received.some(({ delivery }) => delivery === id), 'the event');
  const got = receiver.received.find(({ delivery }) => delivery === id);
  assert.ok(verifySignature(secret, String(got?.headers['x-service-signature']), got?.body ?? '', new Date()));
  const [row] = await ctx.db.sql`select details from audit_log where partner_id = ${partner.id} and number = 1`;
  assert.deepEqual(JSON.parse(row?.details), { host: new URL(receiver.url).host });
});

test('a URL that is saved unchanged › the page says that nothing was changed, and the log has no entry', async () => {
  const { partner, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  assert.match((await typeUrl(owner, receiver.url)).html, /Nothing was changed: this URL is already set/);
  assert.deepEqual(await actions(partner.id), ['webhook.url_set']);
});

test('a URL that cannot be used › the page names the broken rule and keeps what was typed; http is refused in live mode', async () => {
  const { test: scope, live, owner } = await newPartner();
  const { webhooks } = portalTexts({ language: 'en' });
  for (const [wrong, rule] of [
    ['ftp://shop.example/', 'not_a_url'],
    ['https://user:pw@shop.example/', 'credentials'],
    ['http://10.0.0.1/', 'private'],
    ['nonsense', 'not_a_url'],
  ] as const) {
    const page = await typeUrl(owner, wrong);
    assert.equal(page.status, 400, wrong);
    assert.equal(/class="fault"[^>]*>([^<]*)</.exec(page.html)?.[1], webhooks.urlFaults[rule]);
    assert.ok(page.html.includes(`value="${wrong}"`), wrong);
  }
  assert.equal(await readEndpoint(ctx, scope), null);
  const set = await typeUrl(owner, 'https://shop.example/hook', 'live');
  assert.ok(secretOn(set.html));
  assert.equal(await readEndpoint(ctx, scope), null, 'test has none of its own');
  assert.equal((await readEndpoint(ctx, live))?.url, 'https://shop.example/hook');
});

test('a URL that was never reached › shown as untried, whatever reached the previous one', async () => {
  const { test: scope, owner } = await newPartner();
  assert.match((await typeUrl(owner, receiver.url)).html, /Not tried yet/);
  await ctx.db.sql`update webhook_endpoints set last_success_at = now() where partner_id = ${scope.partnerId}`;
  assert.match((await typeUrl(owner, receiver.url)).html, /Webhook delivering/);
  const moved = (await typeUrl(owner, `${receiver.url}/elsewhere`)).html;
  assert.match(moved, /Not tried yet/);
  assert.doesNotMatch(moved, /Webhook delivering/);
});

test('an endpoint that accepted no event yet › the page says where to see what it answered, until it accepts one', async () => {
  const { partner, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  const says = async () => /it shows what we sent and what your endpoint answered/.test((await owner.open(path)).html);
  assert.equal(await says(), false);
  await ctx.db.sql`update webhook_endpoints set failures = 1 where partner_id = ${partner.id}`;
  assert.equal(await says(), true);
  await ctx.db.sql`update webhook_endpoints set last_success_at = now() where partner_id = ${partner.id}`;
  assert.equal(await says(), false);
});

test('ten changes a minute › the next is refused and changes nothing', async () => {
  const { partner, test: scope, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  await ctx.db
    .sql`update rate_counters set calls = 10, minute = date_trunc('minute', clock_timestamp()) + interval '1 minute'
    where partner_id = ${partner.id}`;
  const page = await typeUrl(owner, `${receiver.url}?other`);
  assert.match(page.html, /you can make ten changes a minute/);
  assert.equal((await readEndpoint(ctx, scope))?.url, receiver.url);
});

test('a rotation that is sent again, as by reloading its answer › the pending secret stays', async () => {
  const { test: scope, owner } = await newPartner();
  const page = await typeUrl(owner, receiver.url);
  const formKey = /name="form" value="([0-9a-f-]{36})"/.exec(page.html)?.[1] ?? assert.fail('the form has no key');
  const rotate = () => postForm(url, owner, `${path}/rotate?mode=test`, [['form', formKey]]);
  const pending = secretOn((await rotate()).html) ?? assert.fail('no secret');
  assert.equal((await rotate()).location, `${path}?done=repeated`);
  assert.equal((await readEndpoint(ctx, scope))?.pendingSecret, pending);
  assert.match((await owner.open(`${path}?done=repeated`)).html, /No second secret was created/);
});

test('a rotation from a page that does not show the pending secret › refused with a sentence, and the pending one stays', async () => {
  const { test: scope, owner } = await newPartner();
  const page = await typeUrl(owner, receiver.url);
  const pending = secretOn((await owner.send(page, '/rotate?mode=test')).html) ?? assert.fail('no secret');
  await owner.open(path);
  const formKey = crypto.randomUUID();
  const stale = await postForm(url, owner, `${path}/rotate?mode=test`, [['form', formKey]]);
  assert.equal(stale.location, `${path}?done=other_pending`);
  assert.match((await owner.open(`${path}?done=other_pending`)).html, /another new secret is pending/);
  assert.equal((await readEndpoint(ctx, scope))?.pendingSecret, pending);
});

test('a secret that no key decrypts › the page says so and offers what replaces it', async () => {
  const { partner, test: scope, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  await ctx.db.sql`
    update webhook_endpoints set secret = ${encrypt([{ id: 'lost', key: Buffer.alloc(32, 9) }], 'whsec_lost')}
    where partner_id = ${partner.id}`;
  assert.match((await typeUrl(owner, `${receiver.url}?moved`)).html, /Secret cannot be read/);
  assert.equal((await readEndpoint(ctx, scope))?.url, `${receiver.url}?moved`);
  const pending = secretOn((await owner.send(await owner.open(path), '/rotate?mode=test')).html);
  assert.match((await owner.send(await owner.open(path), '/activate?mode=test')).html, /The new secret is active/);
  assert.equal((await readEndpoint(ctx, scope))?.secret, pending);
});

test('a new secret › pending and shown once, then in force; each step is in the log without the secret', async () => {
  const { partner, test: scope, owner } = await newPartner();
  assert.match((await owner.send(await opened(owner), '/rotate?mode=test')).html, /New secret pending/);
  const page = await owner.send(await owner.open(path), '/rotate?mode=test');
  const pending = secretOn(page.html) ?? assert.fail('no secret');
  const before = await readEndpoint(ctx, scope);
  assert.equal(before?.pendingSecret, pending);
  assert.notEqual(before?.secret, pending);
  const active = await owner.send(await owner.open(path), '/activate?mode=test');
  assert.match(active.html, /The new secret is active/);
  assert.equal((await readEndpoint(ctx, scope))?.secret, pending);
  const none = await postForm(url, owner, `${path}/activate?mode=test`);
  assert.equal(none.location, `${path}?done=nothing_pending`);
  const { owner: other } = await newPartner();
  assert.equal((await postForm(url, other, `${path}/rotate?mode=test`)).location, `${path}?done=no_url`);
  assert.deepEqual(await actions(partner.id), [
    'webhook.url_set',
    'webhook.secret_rotated',
    'webhook.secret_rotated',
    'webhook.secret_activated',
  ]);
  const log = JSON.stringify([...(await ctx.db.sql`select * from audit_log where partner_id = ${partner.id}`)]);
  assert.doesNotMatch(log, /whsec_/);

  async function opened(visitor: Visitor) {
    await typeUrl(visitor, receiver.url);
    return visitor.open(path);
  }
});

test('“send me an event” › a new partner gets a real event of a real payment, which the page shows', async () => {
  const { partner, test: scope, owner } = await newPartner();
  const secret = secretOn((await typeUrl(owner, receiver.url)).html) ?? '';
  const form = await owner.open(path);
  assert.match(form.html, /Creates a merchant “Test shop” first/);
  const page = await owner.send(form, '/test?mode=test');
  assert.match(page.html, /The payment was sent/);
  const own = () => ctx.db.sql`select * from requests where partner_id = ${partner.id}`;
  const [request] = await own();
  await until(() => receiver.received.some(({ body }) => body.includes(request?.id)), 'the event of the payment');
  const got = receiver.received.find(({ body }) => body.includes(request?.id));
  assert.ok(verifySignature(secret, String(got?.headers['x-service-signature']), got?.body ?? '', new Date()));
  const event = JSON.parse(got?.body ?? '{}');
  assert.deepEqual([event.event, event.metadata], ['payment.proof_verified', { test_event: 'true' }]);
  const [paid] = await own();
  assert.equal(paid?.proof_status, 'verified');
  assert.equal(event.tx_hash, paid?.tx_hash);
  // Submitting the same form again creates no request and pays nothing.
  const again = await owner.send(form, '/test?mode=test');
  assert.equal((await own()).length, 1);
  assert.equal((await ctx.db.sql`select from transfers where partner_id = ${partner.id}`).length, 1);
  assert.doesNotMatch(again.html, /Creates a merchant/);
  assert.deepEqual(await actions(partner.id), [
    'webhook.url_set',
    'merchant.created',
    'merchant.onboarded',
    'request.created',
  ]);
  assert.ok((await ctx.db.sql`select from merchants where partner_id = ${scope.partnerId}`).length === 1);
});

test('“send me an event” › where there is no test wallet, the page says what to do, and the form does nothing', async () => {
  const { partner, owner } = await newPartner();
  const live = await owner.open(`${path}?mode=live`);
  assert.match(live.html, /Live events come only from real payments/);
  const done = await postForm(url, owner, `${path}/test?mode=live`, [['key', 'x'.repeat(32)]]);
  assert.equal(done.location, `${path}?done=no_test_wallet`);
  assert.equal((await ctx.db.sql`select from requests where partner_id = ${partner.id}`).length, 0);
});

test('a delivery › every attempt with what was sent and what came back, whole', async () => {
  const { test: scope, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  let asked = 0;
  receiver.behave((response, received) => {
    if (received.body.includes('"order":"detail"') && asked++ === 0) {
      response.writeHead(503, { 'content-type': 'text/plain', 'x-why': '<down>' }).end('try <later>');
    } else response.writeHead(204, { 'x-took': 'yes' }).end();
  });
  const [id = ''] = await makeEvents(ctx.db, scope, 1, '{"order":"detail"}');
  await until(async () => (await stateOf(id))?.state === 'delivered', 'the second attempt');
  receiver.behave(behaviours.status(200));
  const { html } = await owner.open(`${path}/deliveries/${id}`);
  for (const told of [
    'Attempt 1',
    'Answered 503',
    'x-why: &lt;down&gt;',
    'try &lt;later&gt;',
    `data-copy="${receiver.url}"`,
    'Attempt 2',
    'Answered 204',
    'x-took: yes',
    'x-service-signature: v1=',
    `webhook-id: ${id}`,
    '&quot;order&quot;:&quot;detail&quot;',
  ]) {
    assert.ok(html.includes(told), told);
  }
  assert.equal(html.split('x-service-signature: v1=').length, 3, 'signed for each attempt');
  const list = await owner.open(`${path}/deliveries`);
  assert.match(list.html, /data-name="Last response">204 · \d+ ms/);
});

test('replays › one event, or all that failed since a time; delivered ones stay', async () => {
  const { partner, test: scope, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  const ids = await makeEvents(ctx.db, scope, 3);
  await until(async () => (await Promise.all(ids.map(stateOf))).every((row) => row?.state === 'delivered'), 'all');
  const [one = '', two = '', three = ''] = ids;
  const count = (id: string) => receiver.received.filter(({ delivery }) => delivery === id).length;
  const page = await owner.send(await owner.open(`${path}/deliveries/${one}`), '/replay?mode=test');
  assert.match(page.html, /Resending the event/);
  await until(() => count(one) === 2, 'the replay');
  await until(async () => (await stateOf(one))?.state === 'delivered', 'its record');

  await ctx.db.sql`update webhook_deliveries set state = 'exhausted' where id in ${list([two, three])}`;
  await ctx.db.sql`update webhook_deliveries set created_at = now() - interval '3 days' where id = ${three}`;
  const replay = async (since: number) =>
    owner.send(await owner.open(`${path}/deliveries`), '/replay?mode=test', {
      since: new Date(since).toISOString().slice(0, 16), // as a browser sends a date and time
    });
  await ctx.db.sql`update webhook_deliveries set created_at = now() - interval '1 hour' where id = ${two}`;
  assert.match((await replay(Date.now() - 30 * 60_000)).html, /Resending 0 events\./);
  const done = await replay(Date.now() - 90 * 60_000);
  assert.match(done.html, /Resending 1 event\./);
  await until(() => count(two) === 2, 'the replay of what failed');
  assert.deepEqual([count(one), count(three)], [2, 1]);
  const none = await postForm(url, owner, `${path}/deliveries/replay?mode=test`, [['since', 'soon']]);
  assert.equal(none.location, `${path}/deliveries?done=no_time`);
  assert.deepEqual(await actions(partner.id), ['webhook.url_set', 'webhook.replayed', 'webhook.replayed']);
});

test('the log › filters, pages, and CSV', async () => {
  const { test: scope, owner } = await newPartner();
  const ids = (await makeEvents(ctx.db, scope, 52)).toReversed();
  const listed = (html: string) =>
    [...html.matchAll(/<th scope="row"><a class="mono" href="\/portal\/webhooks\/deliveries\/([0-9a-f-]{36})"/g)].map(
      ([, id]) => id,
    );
  const first = await owner.open(`${path}/deliveries`);
  const next = /href="([^"]+)" rel="next"/.exec(first.html)?.[1] ?? assert.fail('no next page');
  const second = await owner.open(next);
  assert.deepEqual([...listed(first.html), ...listed(second.html)], ids);
  const find = async (query: Record<string, string>) =>
    listed((await owner.open(`${path}/deliveries?${new URLSearchParams(query)}`)).html);
  const [a = '', b = '', c = ''] = ids;
  await ctx.db.sql`update webhook_deliveries set state = 'exhausted' where id = ${a}`;
  await ctx.db.sql`update webhook_deliveries set state = 'delivered', delivered_at = now() where id = ${b}`;
  await ctx.db.sql`update webhook_deliveries set attempts = 2, created_at = now() - interval '9 days' where id = ${c}`;
  assert.deepEqual(await find({ state: 'exhausted' }), [a]);
  assert.deepEqual(await find({ state: 'delivered' }), [b]);
  assert.deepEqual(await find({ state: 'failed' }), [a, c]);
  const [row] = await ctx.db.sql`select request_id from webhook_deliveries where id = ${b}`;
  assert.deepEqual(await find({ request_id: row?.request_id }), [b]);
  assert.deepEqual(await find({ request_id: 'x' }), []);
  const week = new Date(Date.now() - 7 * 86_400_000).toISOString();
  assert.deepEqual(await find({ until: week }), [c]);
  assert.equal((await find({ since: week, after: 'nonsense' })).length, 50);
  const csv = (await owner.open(`${path}/deliveries.csv?state=failed`)).html.trim().split('\r\n');
  assert.deepEqual(
    csv.slice(1).map((line) => line.slice(0, 36)),
    [a, c],
  );
  assert.match(csv[0] ?? '', /^delivery_id,event,request_id,state/);
});

test('a disabled endpoint › says why; enabled again, waiting events go out', async () => {
  const { partner, test: scope, owner } = await newPartner();
  await typeUrl(owner, receiver.url);
  await ctx.db
    .sql`update webhook_endpoints set disabled_at = now(), disabled_reason = 'gone' where partner_id = ${partner.id}`;
  const [id = ''] = await makeEvents(ctx.db, scope);
  const page = await owner.open(path);
  assert.match(page.html, /Your endpoint answered 410 Gone/);
  assert.equal((await stateOf(id))?.state, 'waiting');
  assert.match((await owner.send(page, '/enable?mode=test')).html, /The webhook is enabled/);
  await until(async () => (await stateOf(id))?.state === 'delivered', 'what waited');
  assert.deepEqual(await actions(partner.id), ['webhook.url_set', 'webhook.enabled']);
});

test('webhooks › a viewer sees the host of the URL only, since what follows can be the receiver’s secret', async () => {
  const { partner, test: scope, owner } = await newPartner();
  const viewer = await portalVisitor(ctx, url, partner.id, 'viewer');
  await setUrl(ctx, theService, scope, 'http://127.0.0.1:9/hook/s3cr3t?token=s3cr3t');
  assert.match((await owner.open(path)).html, /127\.0\.0\.1:9\/hook\/s3cr3t\?token=s3cr3t/);
  const { html } = await viewer.open(path);
  assert.match(html, /http:\/\/127\.0\.0\.1:9\/…/);
  assert.doesNotMatch(html, /s3cr3t/);
});

test('an event › a viewer does not see the URL in what the receiver answered, in any notation', async () => {
  const { partner, test: scope, owner } = await newPartner();
  const viewer = await portalVisitor(ctx, url, partner.id, 'viewer');
  receiver.behave((response, { path }) => {
    response.writeHead(404, { location: path });
    response.end(`No route ${path} {"path":${JSON.stringify(path).replaceAll('/', '\\/')}}`);
  });
  await setUrl(ctx, theService, scope, `${receiver.url}/s3cr3t-path?token=s3cr3t`);
  const [id = ''] = await makeEvents(ctx.db, scope);
  await until(async () => (await stateOf(id))?.attempts >= 2, 'the attempts');
  receiver.behave(behaviours.status(200));
  const [row] = await ctx.db.sql`select request_id from webhook_deliveries where id = ${id}`;
  for (const page of [`${path}/deliveries/${id}`, `/portal/requests/${row?.request_id}`]) {
    assert.match((await owner.open(page)).html, /No route \/hook\/s3cr3t-path\?token=s3cr3t/);
    const { html } = await viewer.open(page);
    assert.match(html, /No route \/hook\/…\?token=…/);
    assert.doesNotMatch(html, /s3cr3t/);
  }
});

test('webhooks › a viewer reads and changes nothing; another partner’s and the other mode’s events are not there', async () => {
  const { partner, test: scope, owner } = await newPartner();
  const viewer = await portalVisitor(ctx, url, partner.id, 'viewer');
  const { owner: stranger } = await newPartner();
  const [id = ''] = await makeEvents(ctx.db, scope);
  const seen = await viewer.open(`${path}/deliveries/${id}`);
  assert.equal(seen.status, 200);
  assert.doesNotMatch(seen.html, /Resend event/);
  assert.equal((await viewer.open(path)).forms.filter(({ action }) => action.startsWith(path)).length, 0);
  for (const form of ['url', 'rotate', 'activate', 'enable', 'test', 'deliveries/replay', `deliveries/${id}/replay`]) {
    assert.equal((await postForm(url, viewer, `${path}/${form}?mode=test`)).status, 403, form);
  }
  for (const [visitor, mode] of [
    [stranger, 'test'],
    [owner, 'live'],
  ] as const) {
    assert.equal((await visitor.open(`${path}/deliveries/${id}?mode=${mode}`)).status, 404);
    assert.equal((await postForm(url, visitor, `${path}/deliveries/${id}/replay?mode=${mode}`)).status, 404);
  }
  assert.equal((await stateOf(id))?.attempts, 0);
});
