import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { raisedAlarms } from '../support/alarms.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const migration = readFileSync(join(import.meta.dirname, '../../migrations/0050_alarm_kinds.sql'), 'utf8');
const id = '0191f0a2-7c11-7c3e-8d3a-2f6b5f0f9a11';
const other = '0191f0a2-7c11-7c3e-8d3a-2f6b5f0f9a12';

let database: TestDatabase;
before(async () => {
  database = await testDatabase();
});
after(() => database?.drop());

test('Alarms that earlier versions raised are shown by their kind, with today’s texts', async () => {
  const { owner } = database;
  await owner`drop table alarms`;
  await owner`create table alarms (name text primary key, message text not null,
    raised_at timestamptz not null default now(), cleared_at timestamptz)`;
  /** The old name, its sentence, the new name, and today's sentence if it differs. */
  const told: [oldName: string, message: string, name: string, today?: string][] = [
    [
      'mail_transport',
      '7 mails wait: no mail transport is configured; set SMTP_URL and MAIL_FROM.',
      'mail_transport',
      '7 e-mails are waiting: no mail server is configured; set SMTP_URL and MAIL_FROM.',
    ],
    [
      'mail_failing',
      'A mail could not be sent: connect: no route',
      'mail_failing',
      'An e-mail could not be sent: connect: no route. Check SMTP_URL (smtps:// for port 465, smtp:// for 587), its password and MAIL_FROM.',
    ],
    [
      'phone_gateway',
      'The gateway for messages to phones does not work: it answered 500.',
      'phone_gateway',
      'The phone message gateway is not working: it answered 500. Check PHONE_GATEWAY_URL and PHONE_GATEWAY_TOKEN.',
    ],
    [
      'receipts_missing',
      'Receipts of verified payments cannot be written: 23514: broken',
      'receipts_missing',
      'Receipts for verified payments cannot be created: 23514: broken',
    ],
    [
      'recoveries_stuck',
      `2 recoveries of wallets cannot be carried out; the log says why. Merchants: ${id}, ${other}.`,
      'recoveries_stuck',
      `2 wallet recoveries cannot be completed; see the log. Merchants: ${id}, ${other}.`,
    ],
    [
      'plans_failing',
      'Charges fail for more than a day; the log says why. Plans: 12',
      'plans_failing',
      'Charges have failed for more than a day; see the log. Plans: 12',
    ],
    [
      'order_ahead',
      'The order of requests is ahead of the time. Partners: shop (test) until 2030-01-01T00:00:00.000Z, kiosk (live) until 2029-01-01T00:00:00.000Z …',
      'order_ahead',
      'The order of requests is ahead of the actual time. Partners: shop (test) until 2030-01-01T00:00:00.000Z, kiosk (live) until 2029-01-01T00:00:00.000Z …',
    ],
    [
      'chain-8453-unconfirmed',
      'Payments on Base wait to be verified: its RPC endpoints do not all answer and agree since 2026-01-01T00:00:00.000Z.',
      'chain-unconfirmed:8453',
      'Payments on Base cannot be verified: its RPC endpoints have not all responded and agreed since 2026-01-01T00:00:00.000Z.',
    ],
    [
      'chain-8453-unread',
      'Transactions on Base cannot be read, their payments may be missing: 0xabc, block 17',
      'chain-unread:8453',
      'Some transactions on Base cannot be read; payments in them may be missing: 0xabc, block 17',
    ],
    [
      'chain-8453-final-reorged',
      'Chain 8453 took back final transfers: 0xabc, 0xdef',
      'chain-final-reorged:8453',
      'Chain 8453 reversed final transfers: 0xabc, 0xdef',
    ],
    [
      'chain-8453-final-reorged:0xabc',
      'Chain 8453 took back final transfers: 0xabc',
      'chain-final-reorged:8453:0xabc',
      'Chain 8453 reversed final transfers: 0xabc',
    ],
    [
      'chain-8453-deep-reorg',
      'Chain 8453 was reorganised by more than 40 blocks; they are read again.',
      'chain-deep-reorg:8453',
      'Chain 8453 was reorganised deeper than the blocks that are stored; its last 40 blocks are being read again.',
    ],
    [
      `verified-reorged-${id}`,
      `The verified request ${id} lost its transfer to a reorganisation; its money must be checked by hand.`,
      `verified-reorged:${id}`,
      `The verified request ${id} lost its payment in a reorganisation; check its payment manually.`,
    ],
    [
      `returned-bound-${id}`,
      `The payment of request ${id} was given back by a transaction that turned up late; its money must be checked by hand.`,
      `returned-bound:${id}`,
      `The payment for request ${id} counts and was also refunded; check it manually.`,
    ],
    [
      'returned-twice:1_0xabc_0',
      'The payment 1_0xabc_0 was given back by a transaction in whose place another was noted; its money must be checked by hand.',
      'returned-twice:1_0xabc_0',
      'The payment 1_0xabc_0 was refunded twice, or also counts; check it manually.',
    ],
    [
      `webhook_disabled:${id}:live`,
      `The live webhook endpoint of partner ${id} was disabled: it answered 410.`,
      `webhook_disabled:${id}:live`,
      `The live webhook endpoint of partner ${id} was disabled: it answered 410 Gone.`,
    ],
    [
      `webhook_disabled:${id}:test`,
      `The test webhook endpoint of partner ${id} was disabled: it had no success for 120 hours.`,
      `webhook_disabled:${id}:test`,
      `The test webhook endpoint of partner ${id} was disabled: no delivery succeeded for 120 hours.`,
    ],
    ['something', 'Nobody knows: this', 'other:something'],
    ['plans_failing-2', 'Of no known kind', 'other:plans_failing-2'],
    ['chain-1-deep-reorg', 'Another sentence than usual', 'other:chain-1-deep-reorg'],
  ];
  for (const [name, message] of told) await owner`insert into alarms (name, message) values (${name}, ${message})`;
  await owner`insert into alarms (name, message, cleared_at) values ('mail_failing-old', 'It is over', now())`;
  await owner.unsafe(migration);
  const raised = await raisedAlarms(owner);
  assert.deepEqual(
    new Map([...raised].sort()),
    new Map(told.map(([, message, name, today]): [string, string] => [name, today ?? message]).sort()),
  );
});
