import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import type { Tx } from '../../src/db/connection.ts';
import { type NewMail, queueMail } from '../../src/mail/outbox.ts';
import { deleteOldMails, encryptMails } from '../../src/mail/retention.ts';
import { retryMail } from '../../src/mail/stuck.ts';
import { type DueMail, sendDueMails } from '../../src/mail/transport.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
const dayMs = 24 * 3_600_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());
beforeEach(() => database.db.sql`delete from mails`);

test('Mails are deleted a month after they were sent or had failed; a waiting mail stays, however old it is', async () => {
  const { sql } = database.db;
  const queue = (recipient: string) =>
    queueMail(testContext(database.db), sql, null, { recipient, subject: 'A link', body: 'https://…' });
  for (const name of ['sent', 'given-up', 'waiting']) await queue(`${name}@example.com`);
  await sql`update mails set sent_at = now() where recipient = 'sent@example.com'`;
  await sql`update mails set next_attempt_at = 'infinity' where recipient = 'given-up@example.com'`;
  const start = Date.now();
  const forget = (days: number) =>
    deleteOldMails({ db: database.db, clock: { now: () => new Date(start + days * dayMs) } }, running);
  assert.equal(await forget(29.9), 0);
  assert.equal(await forget(30.1), 2);
  assert.deepEqual(
    (await sql`select recipient from mails`).map(({ recipient }) => recipient),
    ['waiting@example.com'],
  );

  await sql`
    insert into mails (id, recipient, subject, body, sent_at)
    select gen_random_uuid(), 'many@example.com', '', '', now() - interval '40 days' from generate_series(1, 2500)`;
  assert.equal(await forget(0), 2500);
});

const link = 'https://pay.example/portal/link/s3cr3t';
const secret = (recipient: string): NewMail & { subject: string } => ({
  recipient,
  subject: '123456 is your code',
  body: `Open ${link}`,
  html: `<a href="${link}">Open</a>`,
  unsubscribeUrl: `${link}/stop`,
});
const production = () => testContext(database.db, { config: testConfig({ sandbox: false }) });

/** A mail as anyone who reads the database sees it. */
async function rowOf(recipient: string) {
  const [row] = await database.db.sql`select *, mails::text as whole from mails where recipient = ${recipient}`;
  assert.ok(row);
  return row;
}

/** Runs work that needs a mail's row, while a transaction that has changed it is not committed yet. */
async function whileChanging<T>(change: (tx: Tx) => PromiseLike<unknown>, work: () => Promise<T>): Promise<T> {
  let done: Promise<T> | undefined;
  await database.db.transaction(async (tx) => {
    await change(tx);
    done = work();
    await until(async () => {
      const { count } = await database.owner`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return count > 0;
    }, 'the work waits');
  });
  return done as Promise<T>;
}

const assertUnread = ({ whole }: Record<string, string>) => assert.doesNotMatch(whole ?? '', /s3cr3t|123456|https?:/);

test('In production the database never shows what a mail says, and holds nothing of it once it was sent', async () => {
  const ctx = production();
  await queueMail(ctx, ctx.db.sql, null, secret('one@example.com'));
  const waiting = await rowOf('one@example.com');
  assertUnread(waiting);
  assert.ok(waiting.sealed);
  const handed: DueMail[] = [];
  assert.equal(await sendDueMails(ctx, running, async (mail) => void handed.push(mail)), 1);
  assert.deepEqual(handed, [{ id: waiting.id, ...secret('one@example.com') }]);
  const sent = await rowOf('one@example.com');
  assertUnread(sent);
  assert.deepEqual([sent.sealed, sent.body, sent.body_html, sent.unsubscribe_url], [null, null, null, null]);
  assert.equal(sent.subject, '••• is your code');
  assert.ok(sent.sent_at > sent.created_at);
});

test('A mail that failed permanently stays encrypted, and is complete when an operator sends it again', async () => {
  const ctx = production();
  await queueMail(ctx, ctx.db.sql, null, secret('two@example.com'));
  await ctx.db.sql`update mails set attempts = 11 where recipient = 'two@example.com'`;
  const failing = async () => {
    throw new Error('no such mailbox');
  };
  await sendDueMails(ctx, running, failing);
  const givenUp = await rowOf('two@example.com');
  assertUnread(givenUp);
  assert.equal(await retryMail(ctx, theService, givenUp.id), true);
  const handed: DueMail[] = [];
  await sendDueMails(ctx, running, async (mail) => void handed.push(mail));
  assert.deepEqual(handed, [{ id: givenUp.id, ...secret('two@example.com') }]);
  assert.equal((await rowOf('two@example.com')).sealed, null);
});

test('Unencrypted mails are encrypted while they wait and deleted once they were sent; the sandbox keeps its own', async () => {
  const sandbox = testContext(database.db);
  for (const name of ['three', 'four']) await queueMail(sandbox, sandbox.db.sql, null, secret(`${name}@example.com`));
  await sandbox.db.sql`update mails set sent_at = now() where recipient = 'four@example.com'`;
  assert.equal(await encryptMails(sandbox), 0);
  assert.equal((await rowOf('four@example.com')).body, `Open ${link}`);
  const ctx = production();
  assert.ok((await encryptMails(ctx)) >= 2);
  assert.equal(await encryptMails(ctx), 0);
  const [waiting, sent] = [await rowOf('three@example.com'), await rowOf('four@example.com')];
  assertUnread(waiting);
  assertUnread(sent);
  assert.equal(sent.sealed, null);
  const handed: DueMail[] = [];
  await sendDueMails(ctx, running, async (mail) => void handed.push(mail));
  assert.deepEqual(
    handed.find(({ recipient }) => recipient === 'three@example.com'),
    { id: waiting.id, ...secret('three@example.com') },
  );
});

test('A mail that an operator sends again while old ones are deleted → stays, and is sent', async () => {
  const ctx = production();
  await queueMail(ctx, ctx.db.sql, null, secret('five@example.com'));
  const { id } = await rowOf('five@example.com');
  await ctx.db.sql`
    update mails set next_attempt_at = 'infinity', created_at = now() - interval '40 days' where id = ${id}`;
  const deleted = await whileChanging(
    (tx) => tx`update mails set attempts = 0, next_attempt_at = now() where id = ${id}`,
    () => deleteOldMails(ctx, running),
  );
  assert.equal(deleted, 0);
  assert.equal(await sendDueMails(ctx, running, async () => {}), 1);
});

test('A readable mail that is sent while it is encrypted → nothing of it is kept', async () => {
  const sandbox = testContext(database.db);
  await queueMail(sandbox, sandbox.db.sql, null, secret('six@example.com'));
  const ctx = production();
  await whileChanging(
    (tx) => tx`update mails set sent_at = now() where recipient = 'six@example.com'`,
    () => encryptMails(ctx),
  );
  await encryptMails(ctx);
  const { sealed, body, body_html } = await rowOf('six@example.com');
  assert.deepEqual([sealed, body, body_html], [null, null, null]);
});
