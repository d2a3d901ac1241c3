import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import type { SMTPServerOptions } from 'smtp-server';
import { freePort } from '../../src/lib/ports.ts';
import { queueMail } from '../../src/mail/outbox.ts';
import { smtpTransport } from '../../src/mail/smtp.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { raisedAlarms } from '../support/alarms.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { selfSigned } from '../support/net/self-signed.ts';
import { startSmtp } from '../support/net/smtp.ts';
import { patienceMs } from '../support/patience.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
const from = 'Quittance <pay@quittance.example>';
let database: Awaited<ReturnType<typeof testDatabase>>;
const trusted = tls.getCACertificates('default');

before(async () => {
  tls.setDefaultCACertificates([...trusted, selfSigned.cert]);
  database = await testDatabase();
});
after(async () => {
  tls.setDefaultCACertificates(trusted);
  await database?.drop();
});

/** A production node that sends its mails through this SMTP server. */
const nodeWith = (smtpUrl: string) =>
  testContext(database.db, { config: testConfig({ sandbox: false, mail: { smtpUrl, from } }) });
const mailTo = (recipient: string) => ({ recipient, subject: 'Zwölf € – 12', body: 'Grüße,\n.\nfrom the till.' });
const queue = (recipient: string) =>
  queueMail(
    testContext(database.db, { config: testConfig({ sandbox: false }) }),
    database.db.sql,
    null,
    mailTo(recipient),
  );
const makeDue = () => database.db.sql`update mails set next_attempt_at = now() where sent_at is null`;

async function read(recipient: string) {
  const [row] = await database.db.sql`
    select id, sent_at, attempts, next_attempt_at::text as next, 
      case when next_attempt_at < 'infinity' then extract(epoch from next_attempt_at - now())::float end as wait_s
    from mails where recipient = ${recipient}`;
  assert.ok(row);
  return row;
}

async function openAlarm(name: string): Promise<string | null> {
  return (await raisedAlarms(database.db.sql)).get(name) ?? null;
}

test('Mails go out by SMTP, once each, as they were written; the alarm about a missing transport ends', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  await queue('ada@example.com');
  await sendDueMails(testContext(database.db, { config: testConfig({ sandbox: false }) }), running);
  assert.match((await openAlarm('mail_transport')) ?? '', /set SMTP_URL and MAIL_FROM/);

  const node = nodeWith(`smtp://127.0.0.1:${smtp.port}`);
  const sent = await Promise.all([1, 2, 3].map(() => sendDueMails(node, running)));
  assert.equal(
    sent.reduce((a, b) => a + b),
    1,
  );
  assert.equal(await sendDueMails(node, running), 0);
  assert.equal(smtp.mails.length, 1);
  const [mail] = smtp.mails;
  assert.deepEqual([mail?.from, mail?.to], ['pay@quittance.example', ['ada@example.com']]);
  const { id, sent_at } = await read('ada@example.com');
  assert.ok(sent_at);
  assert.match(mail?.text ?? '', new RegExp(`^Message-ID: <${id}@quittance\\.example>\\r$`, 'm'));
  assert.match(mail?.text ?? '', /^From: Quittance <pay@quittance\.example>\r$/m);
  assert.match(mail?.text ?? '', /^Auto-Submitted: auto-generated\r$/m);
  assert.match(mail?.text ?? '', /^Subject: =\?UTF-8\?/m);
  assert.match(mail?.text ?? '', /Gr=C3=BC=C3=9Fe,\r\n\.\r\nfrom the till\./);
  assert.equal(await openAlarm('mail_transport'), null);
});

test('a mail of a plan → has List-Unsubscribe headers; other mails have none', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const transport = smtpTransport({ smtpUrl: `smtp://127.0.0.1:${smtp.port}`, from });
  const signal = AbortSignal.timeout(patienceMs);
  const url = `https://pay.example/pay/${randomUUID()}/stop-mails/${'x'.repeat(43)}`;
  await transport({ id: randomUUID(), ...mailTo('stop@example.com'), unsubscribeUrl: url }, signal);
  await transport({ id: randomUUID(), ...mailTo('code@example.com'), unsubscribeUrl: null }, signal);
  const [stoppable, plain] = smtp.mails.map(({ text }) => text.replace(/\r\n[ \t]+/g, ' '));
  assert.ok(stoppable?.includes(`\r\nList-Unsubscribe: <${url}>\r\n`), stoppable);
  assert.match(stoppable ?? '', /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
  assert.doesNotMatch(plain ?? '', /List-Unsubscribe/);
});

test('A user and password are used over TLS only: at once with smtps, after STARTTLS with smtp', async (t) => {
  const options: SMTPServerOptions = {
    ...selfSigned,
    authOptional: false,
    onAuth: ({ username, password }, _session, done) =>
      username === 'ada' && password === 'p@ss:word' ? done(null, { user: 'ada' }) : done(new Error('who?')),
  };
  const credentials = `ada:${encodeURIComponent('p@ss:word')}`;
  for (const scheme of ['smtps', 'smtp']) {
    const smtp = await startSmtp(t, { ...options, secure: scheme === 'smtps' });
    await queue(`${scheme}@example.com`);
    assert.equal(await sendDueMails(nodeWith(`${scheme}://${credentials}@localhost:${smtp.port}`), running), 1, scheme);
    assert.deepEqual([smtp.mails[0]?.user, smtp.mails[0]?.secure], ['ada', true]);
  }
  let asked = false;
  const open = await startSmtp(t, {
    ...options,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: (_auth, _session, done) => {
      asked = true;
      done(null, { user: 'ada' });
    },
  });
  await queue('unencrypted@example.com');
  assert.equal(await sendDueMails(nodeWith(`smtp://${credentials}@localhost:${open.port}`), running), 0);
  assert.equal(asked, false, 'no password went out');
  assert.deepEqual(open.mails, []);
  const message = (await openAlarm('mail_failing')) ?? '';
  assert.match(message, /^An e-mail could not be sent: /);
  assert.doesNotMatch(message, /p@ss|p%40ss/);
});

test('A server that refuses → tried again later, further apart each time, at most twelve times; no alarm about one address', async (t) => {
  await database.db.sql`update mails set sent_at = now() where sent_at is null`;
  await database.db.sql`update alarms set cleared_at = now()`;
  let refuse = true;
  const smtp = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) =>
      done(refuse && address.startsWith('full') ? Object.assign(new Error('full'), { responseCode: 452 }) : null),
  });
  const node = nodeWith(`smtp://127.0.0.1:${smtp.port}`);
  await queue('full@example.com');
  await queue('other@example.com');
  assert.equal(await sendDueMails(node, running), 1, 'one address holds up no other');
  assert.equal(await openAlarm('mail_failing'), null);
  const waits: number[] = [];
  for (let attempts = 1; attempts < 12; attempts++) {
    const row = await read('full@example.com');
    assert.deepEqual([row.sent_at, row.attempts], [null, attempts]);
    waits.push(Math.round(row.wait_s / 60));
    await makeDue();
    assert.equal(await sendDueMails(node, running), 0);
  }
  assert.deepEqual(waits, [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1440]);
  assert.equal((await read('full@example.com')).next, 'infinity');
  refuse = false;
  await makeDue(); // an operator's own decision
  assert.equal(await sendDueMails(node, running), 1);
  assert.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['other@example.com', 'full@example.com'],
  );
});

test('A server that refuses every recipient, as one that does not relay for us → an alarm, until a mail goes out', async (t) => {
  await database.db.sql`update mails set sent_at = now() where sent_at is null`;
  let reply = { responseCode: 250, text: '' };
  const smtp = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => {
      const { responseCode, text } = reply;
      done(text ? Object.assign(new Error(text), { responseCode }) : null);
    },
  });
  const node = nodeWith(`smtp://127.0.0.1:${smtp.port}`);
  const alarmAfter = async (responseCode: number, text: string) => {
    reply = { responseCode, text };
    await database.db.sql`update mails set sent_at = now() where sent_at is null`;
    await database.db.sql`update alarms set cleared_at = now()`;
    await queue('ada@example.com');
    assert.equal(await sendDueMails(node, running), 0);
    return openAlarm('mail_failing');
  };
  for (const [code, text] of [
    [554, '5.7.1 <ada@example.com>: Relay access denied'],
    [550, 'relay not permitted'],
    [530, 'Authentication required'],
    [421, 'Too busy, closing'],
    [452, '4.3.1 Insufficient system storage'],
  ] as const)
    assert.match((await alarmAfter(code, text)) ?? '', /^An e-mail could not be sent: /, text);
  for (const [code, text] of [
    [550, '5.1.1 No such user'],
    [552, '5.2.2 Mailbox full'],
    [450, '4.7.1 Greylisted'],
    [550, '<relay@example.com>: no such user'],
  ] as const)
    assert.equal(await alarmAfter(code, text), null, text);
  assert.match((await alarmAfter(530, 'Authentication required')) ?? '', /Authentication required/);
  reply = { responseCode: 250, text: '' };
  await makeDue();
  assert.equal(await sendDueMails(node, running), 1);
  assert.equal(await openAlarm('mail_failing'), null);
});

test('No server, then one → an alarm that ends with the first mail that goes out', async (t) => {
  const nobody = await freePort();
  await queue('patient@example.com');
  assert.equal(await sendDueMails(nodeWith(`smtp://127.0.0.1:${nobody}`), running), 0);
  assert.match((await openAlarm('mail_failing')) ?? '', /ECONNREFUSED/);
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  await makeDue();
  assert.equal(await sendDueMails(nodeWith(`smtp://127.0.0.1:${smtp.port}`), running), 1);
  assert.equal(await openAlarm('mail_failing'), null);
});

test('A server that accepts the connection and stays silent → the attempt ends after its time, and the connection is closed', async (t) => {
  const peers: Socket[] = [];
  const mute = createServer((socket) => void peers.push(socket.resume().on('error', () => {})));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    mute.close();
    for (const peer of peers) peer.destroy();
  });
  const { port } = mute.address() as AddressInfo;
  const over = new AbortController();
  const send = smtpTransport({ smtpUrl: `smtp://127.0.0.1:${port}`, from });
  const outcome = assert.rejects(send({ id: 'x', ...mailTo('a@example.com') }, over.signal));
  await until(() => peers.length > 0, 'the connection');
  const closed = once(peers[0] as Socket, 'close');
  over.abort();
  await Promise.all([outcome, closed]);
});

test('Servers that hang delay only their own mails; a mail that somebody waits for is sent although all other places are taken', async (t) => {
  await database.db.sql`update mails set sent_at = now() where sent_at is null`;
  const held: (() => void)[] = [];
  const reachedHanging: string[] = [];
  const smtp = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: ({ address }, _session, done) => {
      if (!address.includes('@hangs')) return done();
      reachedHanging.push(address);
      held.push(() => done());
    },
  });
  const arrived = (address: string) => smtp.mails.some(({ to }) => to.includes(address));
  const release = () => {
    for (const done of held.splice(0)) done();
  };
  for (let i = 0; i < 5; i++) await queue(`receipt-${i}@hangs1.example`);
  await queue('receipt@fine.example');
  const node = nodeWith(`smtp://127.0.0.1:${smtp.port}`);
  const sending = sendDueMails(node, running);
  await until(() => arrived('receipt@fine.example') && held.length === 3, 'the mail to a server that answers');
  assert.deepEqual(smtp.mails.length, 1);

  // Now take every place for mails that nobody waits for, with more mails due.
  for (const server of ['hangs2', 'hangs3', 'hangs4', 'fine']) {
    for (let i = 0; i < 3; i++) await queue(`receipt-${i}@${server}.example`);
  }
  await until(() => held.length === 10, 'all places are taken');
  await queueMail(testContext(database.db, { config: testConfig({ sandbox: false }) }), database.db.sql, null, {
    ...mailTo('link@hangs1.example'),
    urgent: true,
  });
  await queueMail(testContext(database.db, { config: testConfig({ sandbox: false }) }), database.db.sql, null, {
    ...mailTo('link@fine.example'),
    urgent: true,
  });
  await until(() => arrived('link@fine.example'), 'the link to sign in with');
  await until(() => held.length === 11, 'the link to the server that hangs');
  assert.deepEqual(
    smtp.mails.map(({ to }) => to[0]),
    ['receipt@fine.example', 'link@fine.example'],
  );
  assert.equal(reachedHanging.filter((address) => /^receipt.*hangs1/.test(address)).length, 3);
  const releasing = setInterval(release, 10);
  t.after(() => clearInterval(releasing));
  assert.equal(await sending, 20);
  assert.equal(new Set(smtp.mails.map(({ to }) => to[0])).size, 20, 'each once');
});

test('many queued mails → several are sent at a time', async (t) => {
  let [open, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const smtp = await startSmtp(t, {
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => {
      most = Math.max(most, ++open);
      waiting.push(done);
      if (open < 10) return; // all ten wait for the tenth
      for (const go of waiting.splice(0)) go();
      open = 0;
    },
  });
  for (let i = 0; i < 40; i++) await queue(`many@server-${i}.example`);
  assert.equal(await sendDueMails(nodeWith(`smtp://127.0.0.1:${smtp.port}`), running), 40);
  assert.equal(most, 10);
});

test('An address that reads like a list, or holds a header → reaches nobody else', async (t) => {
  const smtp = await startSmtp(t, { disabledCommands: ['STARTTLS'] });
  const send = smtpTransport({ smtpUrl: `smtp://127.0.0.1:${smtp.port}`, from });
  const tricks = [
    'a@example.com, evil@example.net',
    'a@example.com\r\nRCPT TO:<evil@example.net>',
    '<evil@example.net>',
  ];
  for (const recipient of tricks) {
    await send({ id: 'x', ...mailTo(recipient) }, running).catch(() => {});
  }
  await send({ id: 'y', recipient: 'ok@example.com', subject: 'a\r\nBcc: evil@example.net', body: 'b' }, running);
  const reached = smtp.mails.flatMap(({ to }) => to);
  assert.ok(reached.includes('ok@example.com'));
  assert.deepEqual(
    reached.filter((address) => address === 'evil@example.net'),
    [],
  );
});
