import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { buildServer } from '../../src/http/server.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { setBranding } from '../../src/partners/branding.ts';
import { matchPending } from '../../src/payments/match.ts';
import { verifyFinal } from '../../src/payments/proof/verify.ts';
import { openGateway } from '../../src/receipts/gateway.ts';
import { mailReceipts } from '../../src/receipts/send-mails.ts';
import { sendMessages } from '../../src/receipts/send-messages.ts';
import { retryReceipt } from '../../src/receipts/stuck.ts';
import { sweepReceipts } from '../../src/receipts/sweep.ts';
import type { NewRequest } from '../../src/requests/store.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { behaviours, type Receiver, startReceiver } from '../support/net/receiver.ts';
import { startSmtp } from '../support/net/smtp.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { visit } from '../support/people/forms.ts';
import { png } from '../support/pictures.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
const from = 'Quittance <pay@quittance.example>';
let fixtures: PayFixtures;
let gateway: Receiver;
before(async () => {
  fixtures = await payFixtures();
  gateway = await startReceiver();
});
after(async () => {
  await gateway?.close();
  await fixtures?.stop();
});
beforeEach(() => {
  gateway.behave(behaviours.status(202));
  gateway.received.length = 0;
  fixtures.ctx.config.phoneGateway = { url: gateway.url, token: 'gateway-token' };
  fixtures.ctx.config.mail = null;
});

let customers = 0;
const newEmail = () => `grace.${++customers}@example.com`;

/** A request that its customer has paid and that is verified. */
async function paid(details: Partial<NewRequest>) {
  const request = await fixtures.request(details);
  const { txHash } = await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.turn();
  const row = await fixtures.read(request);
  assert.equal(row.proof_status, 'verified');
  return { request, txHash, verifiedAt: row.proof_verified_at as Date };
}

const mailsTo = (recipient: string) => fixtures.db.sql`select * from mails where recipient = ${recipient}`;
const receiptsOf = (request: { id: string }) =>
  fixtures.db.sql`select channel, attempts, done_at, error, next_attempt_at::text as next from receipts
    where request_id = ${request.id} order by channel`;
const makeDue = () => fixtures.db.sql`update receipts set next_attempt_at = now() where done_at is null`;

async function sendAll() {
  const open = openGateway(fixtures.ctx.config.phoneGateway as { url: string; token: string });
  try {
    return await sendMessages(fixtures.ctx, running, open);
  } finally {
    await open.close();
  }
}

async function alarm(name: string): Promise<string | null> {
  return (await raisedAlarms(fixtures.db.sql)).get(name) ?? null;
}

test('A verified payment is receipted by mail once: as text and HTML, in the partner’s branding, with a link that opens', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  fixtures.ctx.config.mail = { smtpUrl: `smtp://127.0.0.1:${smtp.port}`, from };
  const [{ slug }] = (await fixtures.db
    .sql`select slug from partners where id = ${fixtures.scope.partnerId}`) as unknown as [{ slug: string }];
  await setBranding(fixtures.ctx, theService, slug, {
    name: 'Höker & Söhne',
    accent: '#0a7',
    logo: png(80, 40, [0, 120, 90]),
  });
  const email = newEmail();
  const { request, txHash } = await paid({ customerEmail: email, memo: 'Two <b>cakes</b> & tea' });

  const made = await Promise.all([1, 2, 3].map(() => mailReceipts(fixtures.ctx, running)));
  assert.equal(
    made.reduce((a, b) => a + b),
    1,
  );
  await makeDue();
  assert.equal(await mailReceipts(fixtures.ctx, running), 0);
  await sendDueMails(fixtures.ctx, running);
  assert.equal(smtp.mails.filter(({ to }) => to.includes(email)).length, 1);

  const [mail, ...others] = await mailsTo(email);
  assert.deepEqual(others, []);
  assert.match(mail?.subject, /^Test: receipt Q-\d{8}-[0-9A-Z]{10} from Ada’s Bakery$/);
  const link = `http://localhost:3000/pay/${request.id}/receipt`;
  for (const body of [mail?.body, mail?.body_html]) {
    assert.ok(body.includes(link), body);
    assert.ok(body.includes(txHash), body);
    assert.match(body, /€12\.50/);
    assert.match(body, /13\.586957 USDC/);
    assert.match(body, /[Nn]o real money was moved/);
  }
  assert.ok(mail?.body.includes('For: Two <b>cakes</b> & tea\n'));
  assert.ok(mail?.body_html.includes('Two &lt;b&gt;cakes&lt;/b&gt; &amp; tea'));
  assert.ok(!mail?.body_html.includes('<b>cakes'));
  assert.ok(mail?.body_html.includes('Höker &amp; Söhne'));
  assert.match(mail?.body_html, new RegExp(`src="http://localhost:3000/logo/${slug}\\?v=`));
  assert.match(mail?.body_html, /background:#0/); // the accent, adjusted until it is readable
  const [sent] = smtp.mails.filter(({ to }) => to.includes(email));
  assert.match(sent?.text ?? '', /Content-Type: multipart\/alternative/);
  assert.match(sent?.text ?? '', /Content-Type: text\/html/);

  const app = await buildServer(fixtures.ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const page = await visit(url + new URL(link).pathname);
  assert.equal(page.status, 200);
  assert.ok(page.html.includes(/Q-\d{8}-\w+/.exec(mail?.subject)?.[0] as string));
});

test('A customer who paid too much, in parts → the mail says what was received, like the page of the receipt', async (t) => {
  const email = newEmail();
  const request = await fixtures.request({ customerEmail: email });
  await fixtures.pay(request, { usdcMicro: 5_000_000n });
  await fixtures.pay(request, { usdcMicro: 9_500_000n });
  await fixtures.node.mine(3);
  await fixtures.turn();
  await mailReceipts(fixtures.ctx, running);
  const [mail] = await mailsTo(email);
  const app = await buildServer(fixtures.ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const page = await visit(`${url}/pay/${request.id}/receipt`);
  for (const text of [mail?.body, mail?.body_html, page.html]) {
    assert.match(text, /Received/);
    assert.match(text, /14\.50 USDC/);
    assert.doesNotMatch(text, /13\.586957/);
  }
});

test('two people paid a part each → the receipt names both', async (t) => {
  const app = await buildServer(fixtures.ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const request = await fixtures.request();
  const part = 1_000_000n;
  await fixtures.pay(request, { usdcMicro: part });
  await fixtures.pay(request, { usdcMicro: BigInt(request.usdc_micro) - part });
  await fixtures.node.mine(3);
  await fixtures.turn();
  const payers = await fixtures.db.sql<{ from_address: string }[]>`
    select distinct from_address from transfers where request_id = ${request.id}`;
  assert.equal(payers.length, 2);
  const { html } = await visit(`${url}/pay/${request.id}`);
  const sender = /<dt>From<\/dt>\s*<dd>(.*?)<\/dd>/s.exec(html)?.[1]?.toLowerCase() ?? '';
  for (const { from_address } of payers) assert.ok(sender.includes(from_address), `${from_address} in ${sender}`);
});

test('A memo that shows nothing → the receipt has no line for it', async () => {
  const email = newEmail();
  await paid({ customerEmail: email, memo: '\u200b' });
  await mailReceipts(fixtures.ctx, running);
  const [mail] = await mailsTo(email);
  assert.match(mail?.body, /Amount: /);
  assert.doesNotMatch(mail?.body, /^For:/m);
});

test('A customer’s phone is sent a message by the operator’s gateway, once, under the request’s id', async () => {
  const { request } = await paid({ customerPhone: '+49 30 123456' });
  const taken = await Promise.all([sendAll(), sendAll()]);
  assert.equal(taken[0] + taken[1], 1);
  assert.equal(await sendAll(), 0);
  assert.equal(gateway.received.length, 1);
  const [post] = gateway.received;
  assert.equal(post?.headers.authorization, 'Bearer gateway-token');
  assert.equal(post?.headers['idempotency-key'], request.id);
  const { id, to, text } = JSON.parse(post?.body ?? '');
  assert.deepEqual([id, to], [request.id, '+49 30 123456']);
  assert.match(
    text,
    /^Test\. Ada’s Bakery: we have received your payment of €12\.50\. Receipt Q-\S+: http:\/\/\S+\/receipt$/,
  );
});

test('A message that the gateway failed to send is retried, with an alarm; one that it refused is not', async () => {
  const { request } = await paid({ customerPhone: '+49 30 111111' });
  gateway.behave(behaviours.status(500));
  assert.equal(await sendAll(), 0);
  assert.match((await alarm('phone_gateway')) ?? '', /it answered 500/);
  assert.equal(await sendAll(), 0);
  assert.equal(gateway.received.length, 1); // not due yet
  const again = await retryReceipt(fixtures.ctx, theService, fixtures.scope, request.id, 'phone');
  assert.equal(again, false, 'it was not given up');
  gateway.behave(behaviours.status(202));
  await makeDue();
  assert.equal(await sendAll(), 1);
  assert.equal(await alarm('phone_gateway'), null);
  assert.equal(new Set(gateway.received.map(({ headers }) => headers['idempotency-key'])).size, 1);

  const refused = await paid({ customerPhone: '+49 30 222222' });
  gateway.behave(behaviours.status(422));
  assert.equal(await sendAll(), 0);
  const [row] = await receiptsOf(refused.request);
  assert.deepEqual([row?.next, row?.error, row?.done_at], ['infinity', 'it answered 422', null]);
  const [first] = await receiptsOf(request);
  assert.ok(first?.done_at);
});

test('the gateway is slow with one message → the others are sent meanwhile', async () => {
  for (let i = 0; i < 9; i++) await paid({ customerPhone: `+49 30 88888${i}` });
  const held: (() => void)[] = [];
  gateway.behave((response, { body }) => {
    const answer = () => void response.writeHead(202).end();
    if (JSON.parse(body).to === '+49 30 888880') held.push(answer);
    else answer();
  });
  const sending = sendAll();
  await until(() => gateway.received.length === 9 && held.length === 1, 'all nine messages');
  held[0]?.();
  assert.equal(await sending, 9);
});

test('A gateway that hangs ends within its limit, and neither it nor a slow mail server keeps payments from being verified', async (t) => {
  const mute = createServer(() => {}); // accepts connections and never answers
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  t.after(() => mute.close());
  gateway.behave(behaviours.hang);
  fixtures.ctx.config.mail = { smtpUrl: `smtp://127.0.0.1:${(mute.address() as AddressInfo).port}`, from };
  await paid({ customerPhone: '+49 30 333333', customerEmail: newEmail() });
  await mailReceipts(fixtures.ctx, running);
  let ended = false;
  const sending = Promise.all([sendAll(), sendDueMails(fixtures.ctx, running)]).then(() => {
    ended = true;
  });
  const email = newEmail();
  const { request } = await paid({ customerEmail: email, customerPhone: '+49 30 444444' });
  assert.equal(ended, false); // both still hang
  assert.deepEqual(
    (await receiptsOf(request)).map(({ channel }) => channel),
    ['mail', 'phone'],
  );
  await sending;
  assert.match((await alarm('phone_gateway')) ?? '', /timeout/);
});

test('A verification goes through with its event although the outbox of receipts is broken or locked', async () => {
  await fixtures.owner`alter table receipts rename to receipts_away`;
  let broken: Awaited<ReturnType<typeof paid>>;
  try {
    broken = await paid({ customerEmail: newEmail() });
  } finally {
    await fixtures.owner`alter table receipts_away rename to receipts`;
  }
  assert.equal((await fixtures.events(broken.request)).length, 1);
  assert.deepEqual([...(await receiptsOf(broken.request))], []);

  const request = await fixtures.request({ customerEmail: newEmail() });
  await fixtures.pay(request);
  await fixtures.node.mine(3);
  await fixtures.caughtUp();
  await fixtures.db.sql.begin(async (tx) => {
    await tx`lock table receipts in access exclusive mode`;
    await matchPending(fixtures.ctx);
    await verifyFinal(fixtures.ctx); // ends although the lock is held
  });
  assert.deepEqual([...(await receiptsOf(request))], []); // skipped, because its table was locked
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal((await fixtures.events(request)).length, 1);
});

test('no usable e-mail or phone → no receipt; a test payment in production → no text message', async () => {
  const none = await paid({});
  const unusable = await paid({ customerEmail: 'a@b.example, c@d.example', customerPhone: 'none' });
  fixtures.ctx.config.sandbox = false;
  const inProduction = await paid({ customerPhone: '+49 30 555555' });
  fixtures.ctx.config.sandbox = true;
  fixtures.ctx.config.phoneGateway = null;
  const noGateway = await paid({ customerPhone: '+49 30 666666' });
  for (const { request } of [none, unusable, inProduction, noGateway]) {
    assert.deepEqual([...(await receiptsOf(request))], []);
  }
});

test('a receipt is in the language in which its customer read the pay page; a link preview does not set it', async (t) => {
  const app = await buildServer(fixtures.ctx);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(() => app.close());
  const request = await fixtures.request({ customerEmail: newEmail() });
  const languageOf = async () =>
    (await fixtures.db.sql`select customer_language from requests where id = ${request.id}`)[0]?.customer_language;
  await visit(`${url}/pay/${request.id}`, { headers: { 'user-agent': 'WhatsApp/2' } });
  assert.equal(await languageOf(), null);
  await visit(`${url}/pay/${request.id}?lang=en`);
  assert.equal(await languageOf(), 'en');
});

test('A receipt that could not be written at the verification comes later, once; if that keeps failing, an alarm is raised', async () => {
  const sql = fixtures.owner;
  await sql`alter table receipts add constraint broken check (channel = 'none') not valid`;
  const [email, unusable] = [newEmail(), 'a@b.example, c@d.example'];
  const broken = await paid({ customerEmail: email, customerPhone: '+49 30 777777' });
  const nobody = await paid({ customerEmail: unusable });
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0); // its transaction may still be in progress
  assert.equal(await alarm('receipts_missing'), null);
  fixtures.clock.forward(3 * 60_000);
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
  assert.match((await alarm('receipts_missing')) ?? '', /cannot be created: 23514: .*"broken"/);
  await sql`alter table receipts drop constraint broken`;

  await sql`alter table receipts rename to receipts_away`;
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
  assert.match((await alarm('receipts_missing')) ?? '', /relation "receipts" does not exist/);
  await sql`alter table receipts_away rename to receipts`;
  await sql.begin(async (tx) => {
    await tx`select from receipt_sweep for update`;
    assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
    assert.match(
      (await alarm('receipts_missing')) ?? '',
      /does not exist/,
      'a node that did not look does not end the alarm',
    );
  });

  const healed = await Promise.all([1, 2, 3].map(() => sweepReceipts(fixtures.ctx, running)));
  assert.ok(
    healed.reduce((a, b) => a + b) >= 1, // receipts of the tests above were broken too
    String(healed),
  );
  assert.equal(await alarm('receipts_missing'), null);
  assert.deepEqual(
    (await receiptsOf(broken.request)).map(({ channel }) => channel),
    ['mail', 'phone'],
  );
  assert.deepEqual([...(await receiptsOf(nobody.request))], []);
  await mailReceipts(fixtures.ctx, running);
  assert.equal((await mailsTo(email)).length, 1);
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
});

test('The receipt of one request cannot be written → those of later requests are, and its own once it can be', async () => {
  const { request: broken } = await paid({ customerEmail: newEmail() });
  const { request: later } = await paid({ customerEmail: newEmail() });
  fixtures.clock.forward(3 * 60_000);
  const { owner } = fixtures;
  await owner`delete from receipts where request_id in (${broken.id}, ${later.id})`;
  await owner.unsafe(`alter table receipts add constraint broken check (request_id <> '${broken.id}') not valid`);
  assert.equal(await sweepReceipts(fixtures.ctx, running), 1);
  assert.match((await alarm('receipts_missing')) ?? '', /"broken"/);
  const channels = async (request: { id: string }) => (await receiptsOf(request)).map(({ channel }) => channel);
  assert.deepEqual([await channels(broken), await channels(later)], [[], ['mail']]);
  await owner`alter table receipts drop constraint broken`;
  assert.equal(await sweepReceipts(fixtures.ctx, running), 1);
  assert.equal(await alarm('receipts_missing'), null);
  assert.deepEqual([await channels(broken), await channels(later)], [['mail'], ['mail']]);
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
});

test('The sweep looks at each verified request once, by an index, and writes nothing for what is older than three days', async () => {
  const { sql } = fixtures.db;
  const { request } = await paid({ customerEmail: newEmail() });
  await sql`delete from receipts where request_id = ${request.id}`;
  fixtures.clock.forward(4 * 24 * 3_600_000);
  assert.equal(await sweepReceipts(fixtures.ctx, running), 0);
  assert.deepEqual([...(await receiptsOf(request))], []);
  const plan = await sql.begin(async (tx) => {
    await tx`set local enable_seqscan = off`;
    return tx`explain select id from requests
      where proof_status = 'verified' and (customer_email is not null or customer_phone is not null)
        and (proof_verified_at, id) > (now(), ${request.id}) and proof_verified_at < now()
      order by proof_verified_at, id limit 500`;
  });
  assert.match(JSON.stringify(plan), /Index.* using requests_receipted/);
});
