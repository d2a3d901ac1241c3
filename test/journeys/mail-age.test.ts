import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { forgetMails } from '../../src/mail/forget.ts';
import { queueMail } from '../../src/mail/outbox.ts';
import { testDatabase } from '../support/database.ts';

const running = new AbortController().signal;
const dayMs = 24 * 3_600_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

test('Mails are forgotten a month after they were sent or given up; what still waits stays however old it is', async () => {
  const { sql } = database.db;
  const queue = (recipient: string) => queueMail(sql, { recipient, subject: 'A link', body: 'https://…' });
  for (const name of ['sent', 'given-up', 'waiting']) await queue(`${name}@example.com`);
  await sql`update mails set sent_at = now() where recipient = 'sent@example.com'`;
  await sql`update mails set next_attempt_at = 'infinity' where recipient = 'given-up@example.com'`;
  const start = Date.now();
  const forget = (days: number) =>
    forgetMails({ db: database.db, clock: { now: () => new Date(start + days * dayMs) } }, running);
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
