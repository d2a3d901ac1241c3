import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { queueMail } from '../../src/mail/outbox.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { startApp, testConfig, testContext } from '../support/app.ts';
import { makePartner } from '../support/fixtures.ts';
import { visit } from '../support/people/forms.ts';

const running = new AbortController().signal;
let app: Awaited<ReturnType<typeof startApp>>;
before(async () => {
  app = await startApp();
});
after(() => app.stop());

const mail = (recipient: string) => ({ recipient, subject: 'Hello <you>', body: 'A code: 123456' });
const read = async (recipient: string) =>
  (
    await app.db
      .sql`select sent_at, attempts, next_attempt_at > now() as later from mails where recipient = ${recipient}`
  )[0];

test('The sandbox prints mails, keeps them, and shows them escaped under /dev/mail', async () => {
  assert.match((await visit(`${app.url}/dev/mail`)).html, /No mail yet/);
  await queueMail(app.ctx, app.db.sql, null, mail('<b>@example.com'));
  assert.equal(await sendDueMails(app.ctx, running), 1);
  assert.equal(await sendDueMails(app.ctx, running), 0, 'each goes out once');
  assert.ok((await read('<b>@example.com'))?.sent_at);
  const page = await visit(`${app.url}/dev/mail`);
  assert.equal(page.status, 200);
  assert.ok(page.html.includes('Hello &lt;you&gt;'));
  assert.ok(!page.html.includes('<b>@'));
});

test('A mail in HTML is shown as its recipient sees it: on a separate page that runs, sends and loads nothing', async () => {
  const html = '<!doctype html><p style="color:red">A code<script>alert(1)</script></p>';
  await queueMail(app.ctx, app.db.sql, null, { ...mail('html@example.com'), html });
  await sendDueMails(app.ctx, running);
  const list = await visit(`${app.url}/dev/mail`, { headers: { 'accept-language': 'de' } });
  assert.match(list.html, /<html lang="en"/);
  const path = /href="(\/dev\/mail\/[^"]+)"/.exec(list.html)?.[1] ?? '';
  const page = await visit(app.url + path);
  assert.deepEqual([page.status, page.html], [200, html]);
  const policy = page.headers.get('content-security-policy') ?? '';
  assert.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; img-src http:\/\/localhost:3000 data:;/);
  assert.match(policy, /form-action 'none'; frame-ancestors 'none'; sandbox allow-top-navigation-by-user-activation$/);
  for (const id of ['x', randomUUID()]) assert.equal((await visit(`${app.url}/dev/mail/${id}`)).status, 404);
});

test('a mail queued in a transaction that was rolled back → never sent', async () => {
  const { test: scope } = await makePartner(app.db);
  const work = app.db.scoped(scope, async (tx) => {
    await queueMail(app.ctx, tx, null, mail('rolled-back@example.com'));
    throw new Error('rolled back');
  });
  await assert.rejects(work, /rolled back/);
  assert.equal(await read('rolled-back@example.com'), undefined);
});

test('A mail that could not be sent is retried later, and delays no other', async () => {
  await queueMail(app.ctx, app.db.sql, null, mail('broken@example.com'));
  await queueMail(app.ctx, app.db.sql, null, mail('fine@example.com'));
  const transport = async ({ recipient }: { recipient: string }) => {
    if (recipient.startsWith('broken')) throw new Error('mailbox unavailable');
  };
  assert.equal(await sendDueMails(app.ctx, running, transport), 1);
  const broken = await read('broken@example.com');
  assert.deepEqual([broken?.sent_at, broken?.attempts, broken?.later], [null, 1, true]);
  assert.ok((await read('fine@example.com'))?.sent_at);
});

test('Several nodes send each mail once', async () => {
  for (let i = 0; i < 30; i++) await queueMail(app.ctx, app.db.sql, null, mail(`many-${i}@example.com`));
  const sent: string[] = [];
  const transport = async ({ recipient }: { recipient: string }) => {
    sent.push(recipient);
  };
  await Promise.all(Array.from({ length: 4 }, () => sendDueMails(app.ctx, running, transport)));
  assert.equal(sent.length, 30);
  assert.equal(new Set(sent).size, 30);
});

test('In production without a transport mails stay queued, and an alarm says so', async () => {
  await queueMail(app.ctx, app.db.sql, null, mail('waiting@example.com'));
  const ctx = testContext(app.db, { config: testConfig({ sandbox: false }) });
  assert.equal(await sendDueMails(ctx, running), 0);
  assert.equal((await read('waiting@example.com'))?.sent_at, null);
  const alarm = (await raisedAlarms(app.db.sql)).get('mail_transport');
  assert.match(alarm ?? '', /e-mails? (is|are) waiting: no mail server is configured/);
});

test('/dev/mail in production → 404', async () => {
  const production = await startApp({ config: testConfig({ sandbox: false }) });
  try {
    await queueMail(production.ctx, production.db.sql, null, { ...mail('secret@example.com'), html: '<p>A code</p>' });
    const [row] = await production.db.sql`select id from mails`;
    for (const path of ['/dev/mail', `/dev/mail/${row?.id}`]) {
      assert.equal((await visit(production.url + path)).status, 404);
    }
  } finally {
    await production.stop();
  }
});
