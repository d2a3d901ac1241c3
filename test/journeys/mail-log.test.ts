import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeLog } from '../../src/lib/log.ts';
import { queueMail } from '../../src/mail/outbox.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { startSmtp } from '../support/net/smtp.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

test('A server refuses a mail and quotes its recipient → log and alarm contain the reason, and no address but our own', async (t) => {
  let reply = '';
  const smtp = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(Object.assign(new Error(reply), { responseCode: 550 })),
  });
  const lines: string[] = [];
  const mail = { smtpUrl: `smtp://127.0.0.1:${smtp.port}`, from: 'Quittance <Pay@quittance.example>' };
  const node = testContext(database.db, {
    config: testConfig({ sandbox: false, mail }),
    log: makeLog('info', { write: (line) => void lines.push(line) }),
  });
  const recipient = 'Ada.Lovelace@Example.com';
  for (const text of [
    '5.1.1 <ada.lovelace@example.com>: No such user',
    '5.7.1 <Ada.Lovelace@Example.com>: Relay access denied for pay@quittance.example',
  ]) {
    reply = text;
    await database.db.sql`update mails set sent_at = now()`;
    await queueMail(node, database.db.sql, null, { recipient, subject: 'Receipt', body: 'Paid.' });
    assert.equal(await sendDueMails(node, new AbortController().signal), 0);
  }
  const alarm = (await raisedAlarms(database.db.sql)).get('mail_failing') ?? '';
  assert.match(lines[0] ?? '', /<\[address\]>: No such user/);
  assert.match(alarm, /<\[address\]>: Relay access denied for pay@quittance\.example/);
  assert.equal(lines.length, 2);
  for (const text of [...lines, alarm]) assert.doesNotMatch(text, /lovelace/i);
});
