import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Scope } from '../../src/db/connection.ts';
import { queueCustomerMail, queueMail } from '../../src/mail/outbox.ts';
import { sendDueMails } from '../../src/mail/transport.ts';
import { makeOnboardingToken } from '../../src/merchants/onboarding-token.ts';
import { sendEmailCode } from '../../src/onboarding/code.ts';
import { wordsOf } from '../../src/ui/language.ts';
import { testConfig, testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';
import { until } from '../support/until.ts';

const running = new AbortController().signal;
let database: Awaited<ReturnType<typeof testDatabase>>;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());
beforeEach(() => database.db.sql`delete from mails`);

const ctxOf = () => testContext(database.db, { config: testConfig({ sandbox: false }) });
const words = { subject: 'A receipt', body: 'Paid.' };

/** Queues a receipt of a new request to each of these addresses. */
async function queueOf(scope: Scope, addresses: readonly string[]): Promise<void> {
  const ctx = ctxOf();
  const merchant = await makeMerchant(ctx.db, scope);
  for (const recipient of addresses) {
    const request = await makeRequest(ctx.db, scope, merchant);
    await ctx.db.sql.begin((tx) =>
      queueCustomerMail(ctx, tx, scope, { requestId: request.id, purpose: 'receipt', ...words, recipient }),
    );
  }
}
const newScope = async () => (await makePartner(database.db)).live;
const addresses = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}@${name}-${i}.example`);

/** A transport whose sends end when they are let go; `started` are the addresses in the order in which they began. */
function heldTransport() {
  const started: string[] = [];
  const letGo = new Map<string, () => void>();
  const send = ({ recipient }: { recipient: string }) => {
    started.push(recipient);
    return new Promise<void>((resolve) => letGo.set(recipient, resolve));
  };
  const end = (recipient: string) => {
    letGo.get(recipient)?.();
    letGo.delete(recipient);
  };
  const endAll = () => {
    for (const recipient of [...letGo.keys()]) end(recipient);
  };
  return { started, send, end, endAll };
}

/** Sends what is due until the work ends, with every send let go; returns how many were sent. */
async function finish(sending: Promise<number>, transport: ReturnType<typeof heldTransport>): Promise<number> {
  const releasing = setInterval(transport.endAll, 10);
  try {
    return await sending;
  } finally {
    clearInterval(releasing);
  }
}

test('One partner’s mails hang at many servers → they take half of the places, and another partner’s goes out', async () => {
  const [many, other] = [await newScope(), await newScope()];
  await queueOf(many, addresses('many', 12));
  const transport = heldTransport();
  const sending = sendDueMails(ctxOf(), running, transport.send);
  await until(() => transport.started.length === 5, 'half of the places to be taken');
  await queueOf(other, ['other@fine.example']);
  await queueMail(ctxOf(), database.db.sql, null, { ...words, recipient: 'notice@fine.example' });
  await until(() => transport.started.length === 7, 'the mails of others');
  assert.deepEqual(transport.started.slice(5).sort(), ['notice@fine.example', 'other@fine.example']);
  assert.equal(await finish(sending, transport), 14);
});

test('Mails to a server that hangs, its name in any casing → three of them are under way, and one to another server goes out', async () => {
  const scope = await newScope();
  await queueOf(scope, ['a@hangs.example', 'b@Hangs.Example', 'c@HANGS.example', 'd@hangs.EXAMPLE', 'e@fine.example']);
  const transport = heldTransport();
  const sending = sendDueMails(ctxOf(), running, transport.send);
  await until(() => transport.started.includes('e@fine.example'), 'the mail to the other server');
  assert.equal(transport.started.length, 4);
  assert.equal(await finish(sending, transport), 5);
});

test('One partner’s onboarding links request codes for many servers that hang → another’s code and a sign-in link go out', async () => {
  const ctx = ctxOf();
  const sendCodes = async (scope: Scope, recipients: readonly string[]) => {
    for (const recipient of recipients) {
      const { id } = await makeMerchant(ctx.db, scope);
      await ctx.db.sql`update merchants set email = ${recipient}, onboarded_at = null where id = ${id}`;
      const subject = { id, onboarding_epoch: 0 };
      await sendEmailCode(ctx, makeOnboardingToken(ctx.config.secretKeys, subject, ctx.clock.now()), wordsOf('en'));
    }
  };
  await sendCodes(await newScope(), addresses('many', 12));
  const transport = heldTransport();
  const sending = sendDueMails(ctx, running, transport.send);
  await until(() => transport.started.length >= 5, 'half of the places to be taken');
  await sendCodes(await newScope(), ['code@fine.example']);
  await queueMail(ctx, database.db.sql, null, { ...words, urgent: true, recipient: 'link@fine.example' });
  await until(() => transport.started.includes('link@fine.example'), 'the sign-in link');
  await until(() => transport.started.includes('code@fine.example'), 'the other code');
  assert.equal(transport.started.length, 7);
  assert.equal(await finish(sending, transport), 14);
});

test('Partners with many mails have taken all places → the next free one goes to the partner with none under way', async () => {
  const [one, two, three] = [await newScope(), await newScope(), await newScope()];
  await queueOf(one, addresses('one', 9));
  await queueOf(two, addresses('two', 9));
  const transport = heldTransport();
  const sending = sendDueMails(ctxOf(), running, transport.send);
  await until(() => transport.started.length === 10, 'all places to be taken');
  await queueOf(three, addresses('three', 2));
  transport.end(transport.started[0] ?? '');
  await until(() => transport.started.length === 11, 'the next mail');
  assert.match(transport.started[10] ?? '', /^three/);
  assert.equal(await finish(sending, transport), 20);
  assert.equal(new Set(transport.started).size, 20, 'each once');
});

test('Many partners have mails that wait for their next attempt → the one with a mail that is due is served', async () => {
  const later = await Promise.all(Array.from({ length: 4 }, newScope));
  for (const [i, scope] of later.entries()) await queueOf(scope, addresses(`later-${i}`, 1));
  await database.db.sql`update mails set next_attempt_at = now() + interval '1 hour'`;
  await queueOf(await newScope(), ['now@fine.example']);
  const sent: string[] = [];
  assert.equal(await sendDueMails(ctxOf(), running, async ({ recipient }) => void sent.push(recipient)), 1);
  assert.deepEqual(sent, ['now@fine.example']);
});
