import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import { connect, type Scope } from '../../src/db/connection.ts';
import type { Gateway, Message } from '../../src/receipts/gateway.ts';
import { takeReceipt } from '../../src/receipts/limits.ts';
import { mailReceipts } from '../../src/receipts/send-mails.ts';
import { sendMessages } from '../../src/receipts/send-messages.ts';
import type { Channel } from '../../src/receipts/store.ts';
import { testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest } from '../support/fixtures.ts';

// A merchant may name anybody's address or number, and pay its own requests from another wallet.

let database: TestDatabase;
let ctx: Context;
let scope: Scope;
const running = new AbortController().signal;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db);
  ({ test: scope } = await makePartner(database.db));
});
after(() => database?.drop());

type Merchant = { id: string; wallet: string };

/** Requests that are paid and owe their customers a receipt. */
async function owe(merchant: Merchant, channel: Channel, customers: string[]): Promise<void> {
  for (const to of customers) {
    const customer = channel === 'mail' ? { customerEmail: to } : { customerPhone: to };
    const { id } = await makeRequest(database.db, scope, merchant, customer);
    await database.db.sql`
      update requests set proof_status = 'verified', proof_verified_at = now(), payer_address = '0x',
        tx_hash = ${`0x${randomBytes(32).toString('hex')}`}, asset_id = 'eip155:31337/erc20:0x' where id = ${id}`;
    await database.db.sql`
      insert into receipts (partner_id, test_mode, request_id, channel)
      values (${scope.partnerId}, ${scope.testMode}, ${id}, ${channel})`;
  }
}

const times = (count: number, to: string) => Array<string>(count).fill(to);
const owing = async () => (await database.db.sql`select from receipts where done_at is null`).length;

function countingGateway() {
  const taken: Message[] = [];
  const gateway: Gateway = {
    send: async (message) => {
      taken.push(message);
      return { kind: 'taken' };
    },
    close: async () => {},
  };
  return { gateway, sentTo: (to: string) => taken.filter((message) => message.to === to).length };
}

test('A merchant pays its own requests to a stranger’s address → 50 receipts a day, none left to send; others get theirs', async () => {
  const [merchant, other] = [await makeMerchant(database.db, scope), await makeMerchant(database.db, scope)];
  await owe(merchant, 'mail', [...times(30, 'stranger@example.org'), ...times(30, 'Str.anger+1@Example.org')]);
  await owe(merchant, 'mail', ['customer@example.org']);
  await owe(other, 'mail', ['stranger@example.org']);
  assert.equal(await mailReceipts(ctx, running), 52);
  const mails = await database.db.sql`select from mails where recipient ilike 'str%anger%@example.org'`;
  assert.equal(mails.length, 51);
  assert.equal(await owing(), 0);
});

test('A merchant pays its own requests with a stranger’s number → ten messages a day; others get theirs', async () => {
  const [merchant, other] = [await makeMerchant(database.db, scope), await makeMerchant(database.db, scope)];
  const { gateway, sentTo } = countingGateway();
  await owe(merchant, 'phone', [
    ...[...times(5, '+49 30 123456'), ...times(5, '+4930123456'), ...times(3, '0049 (0)30 / 12-34-56')],
    ...['030123456', 'tel:+49 30 123456 ext. 7', '＋４９３０１２３４５６', '+49 30 777777'],
  ]);
  await owe(other, 'phone', ['+49 30 123456']);
  assert.equal(await sendMessages(ctx, running, gateway), 12);
  assert.equal(sentTo('+49 30 777777'), 1);
  assert.equal(await owing(), 0);
});

test('A message is sent again after the gateway failed, and counts once', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const { gateway, sentTo } = countingGateway();
  const failing: Gateway = { ...gateway, send: async () => ({ kind: 'failed', why: 'it answered 500' }) };
  await owe(merchant, 'phone', times(9, '+49 30 123456'));
  for (let attempt = 0; attempt < 3; attempt++) {
    assert.equal(await sendMessages(ctx, running, failing), 0);
    await database.db.sql`update receipts set next_attempt_at = now() where done_at is null`;
  }
  assert.equal(await sendMessages(ctx, running, gateway), 9);
  await owe(merchant, 'phone', times(2, '+49 30 123456'));
  assert.equal(await sendMessages(ctx, running, gateway), 1);
  assert.equal(sentTo('+49 30 123456'), 10);
});

test('Many merchants of a partner have receipts sent to one stranger → 200 mails and 40 messages a day, and a few leave some to others', async () => {
  const { gateway, sentTo } = countingGateway();
  for (let i = 0; i < 5; i++) {
    const merchant = await makeMerchant(database.db, scope);
    await owe(merchant, 'mail', times(45, 'crowd@example.org'));
    await owe(merchant, 'phone', times(9, '+49 30 999999'));
  }
  const [mails, messages] = [await mailReceipts(ctx, running), await sendMessages(ctx, running, gateway)];
  assert.ok(mails >= 160 && mails < 200, `${mails}`);
  assert.ok(messages >= 30 && messages < 40, `${messages}`);
  for (let i = 0; i < 45; i++) {
    const merchant = await makeMerchant(database.db, scope);
    await owe(merchant, 'mail', ['crowd@example.org']);
    await owe(merchant, 'phone', ['+49 30 999999']);
  }
  assert.equal(mails + (await mailReceipts(ctx, running)), 200);
  assert.equal(messages + (await sendMessages(ctx, running, gateway)), 40);
  assert.equal(sentTo('+49 30 999999'), 40);
  assert.equal(await owing(), 0);
});

test('What another node has sent a stranger for a merchant › counts', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const other = connect(database.access);
  await owe(merchant, 'mail', times(50, 'two-nodes@example.org'));
  await Promise.all([mailReceipts(ctx, running), mailReceipts(testContext(other), running)]);
  await owe(merchant, 'mail', times(3, 'two-nodes@example.org'));
  assert.equal(await mailReceipts(testContext(other), running), 0);
  await other.close();
  assert.equal((await database.db.sql`select from mails where recipient = 'two-nodes@example.org'`).length, 50);
});

test('A number beside made-up ones, or in the digits of another script → it is that number all the same', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const { gateway } = countingGateway();
  const spelled = ['+49 30 555555 ext 10000001', '+49 30 555555, 10000002', '+٤٩ ٣٠ ٥٥٥٥٥٥', '+49 30 555555 x10000003'];
  await owe(merchant, 'phone', [...spelled, ...spelled, ...spelled]);
  await owe(merchant, 'phone', ['+٤٩ ٣٠ ٦٦٦٦٦٦', '+49 30 777777']);
  assert.equal(await sendMessages(ctx, running, gateway), 12);
  assert.equal(await owing(), 0);
});

test('A number with signs between its digits that gateways leave out → counts as the same number', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const { gateway } = countingGateway();
  const between = ['\u2013', '\u00b7', '\u200b', '\u00ad', '~', '\u2212', '_', ']['];
  const spelled = between.flatMap((sign) => [`+4930${sign}888888`, `+49308${sign}8888${sign}8`]);
  await owe(merchant, 'phone', spelled);
  await owe(merchant, 'phone', ['+49 30 777777']);
  assert.equal(await sendMessages(ctx, running, gateway), 11);
  assert.equal(await owing(), 0);
});

test('A number cut in two by a sign that could separate two numbers → counts as the number that it is without', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const { gateway } = countingGateway();
  const spelled = [',', ';', ':', '*', 'x'].flatMap((sign) => [
    `+4930${sign}222222`,
    `+493022${sign}2222`,
    `+4930222222${sign}`,
  ]);
  await owe(merchant, 'phone', spelled);
  await owe(merchant, 'phone', ['+49 30 333333']);
  assert.equal(await sendMessages(ctx, running, gateway), 11);
  assert.equal(await owing(), 0);
});

test('A message whose first attempt fails before it is counted › is counted by the next one', async () => {
  const merchant = await makeMerchant(database.db, scope);
  const { gateway, sentTo } = countingGateway();
  const number = '+49 40 7654321';
  await owe(merchant, 'phone', times(10, number));
  assert.equal(await sendMessages(ctx, running, gateway), 10);
  await owe(merchant, 'phone', [number]);
  const failing = { ...database.db, scoped: () => Promise.reject(new Error('deadlock detected')) };
  assert.equal(await sendMessages({ ...ctx, db: failing }, running, gateway), 0);
  await database.db.sql`update receipts set next_attempt_at = now() where done_at is null`;
  assert.equal(await sendMessages(ctx, running, gateway), 0);
  assert.equal(sentTo(number), 10);
  assert.equal(await owing(), 0);
});

test('Texts to the same numbers in any order, counted at once on two nodes → no deadlock, and no number above its limit', async () => {
  const node = connect(database.access);
  const numbers = ['+49 89 11111111', '+49 89 22222222', '+49 89 33333333'] as const;
  const merchants = await Promise.all(Array.from({ length: 8 }, () => makeMerchant(database.db, scope)));
  const [a, b, c] = numbers;
  const texts = [`${a} or ${b}`, `${b} or ${a}`, `${c} or ${a}`, `${b} or ${c}`, `${c}, ${b}, ${a}`];
  try {
    const take = (n: number) =>
      (n % 2 ? node : database.db).scoped(scope, (tx) =>
        takeReceipt(ctx, tx, scope, {
          channel: 'phone',
          accountId: merchants[n % merchants.length]?.id ?? '',
          to: texts[n % texts.length] ?? '',
        }),
      );
    const taken = await Promise.all(Array.from({ length: 120 }, (_, n) => take(n)));
    const sent = (number: string) =>
      taken.filter((isStillClaimed, n) => isStillClaimed && texts[n % texts.length]?.includes(number));
    for (const number of numbers) assert.ok(sent(number).length <= 40, `${sent(number).length} to ${number}`);
    assert.ok(taken.includes(true) && taken.includes(false));
  } finally {
    await node.close();
  }
});

test('A text with two numbers, one of which has reached its limit → fails, and does not count for the other', async () => {
  const [merchant, other] = [await makeMerchant(database.db, scope), await makeMerchant(database.db, scope)];
  const { gateway, sentTo } = countingGateway();
  const [full, free] = ['+49 40 1111111', '+49 40 2222222'];
  await owe(merchant, 'phone', times(10, full));
  await sendMessages(ctx, running, gateway);
  await owe(merchant, 'phone', [...times(9, `${full} or ${free}`), ...times(9, `${free} or ${full}`)]);
  assert.equal(await sendMessages(ctx, running, gateway), 0);
  await owe(merchant, 'phone', times(10, free));
  assert.equal(await sendMessages(ctx, running, gateway), 10);

  await database.db.sql`
    update day_counters set calls = 10000 where action = 'messages' and subject = ${merchant.id}`;
  const unsent = '+49 40 3333333';
  await owe(merchant, 'phone', times(12, unsent));
  assert.equal(await sendMessages(ctx, running, gateway), 0, 'the merchant’s messages of the day are used up');
  await database.db.sql`
    update day_counters set calls = 0 where action = 'messages' and subject = ${merchant.id}`;
  await owe(merchant, 'phone', times(10, unsent));
  await owe(other, 'phone', [unsent]);
  assert.equal(await sendMessages(ctx, running, gateway), 11);
  assert.equal(sentTo(unsent), 11);
});
