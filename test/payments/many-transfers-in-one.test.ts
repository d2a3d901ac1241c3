import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Context } from '../../src/context.ts';
import type { Scope } from '../../src/db/connection.ts';
import { insertion } from '../../src/db/sql.ts';
import { submitHash } from '../../src/payments/submitted/submit.ts';
import { reportTransaction } from '../../src/payments/transaction-report.ts';
import { idleChain, testContext } from '../support/app.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { makeMerchant, makePartner, makeRequest, randomAddress } from '../support/fixtures.ts';
import { readUpTo } from '../support/payments/table-chain.ts';

// One transaction can make thousands of transfers, and anybody can put some around somebody's payment.

const chain = idleChain(31337);
let database: TestDatabase;
let ctx: Context;
let scope: Scope;
before(async () => {
  database = await testDatabase();
  ctx = testContext(database.db, { chains: { test: [chain], live: [] } });
  await readUpTo(database.db, chain.chainId, 100);
  scope = (await makePartner(database.db)).test;
});
after(() => database?.drop());

type Merchant = { id: string; wallet: string };
type Sent = { to: Merchant; from: string; value: bigint; request?: { id: string } };

/** Stores the unmatched and applied transfers of one transaction, in this order; returns its hash. */
async function transaction(all: Sent[]): Promise<string> {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const rows = all.map(({ to, from, value, request }, ordinal) => ({
    ...{
      chain_id: chain.chainId,
      tx_hash: txHash,
      ordinal,
      block_number: 50,
      block_hash: '0x',
      block_time: new Date(),
    },
    ...{
      token_address: chain.tokens[0]?.address ?? '',
      from_address: from,
      to_address: to.wallet,
      value: String(value),
    },
    ...{ partner_id: scope.partnerId, test_mode: true, account_id: to.id, judged_at: new Date() },
    ...{ request_id: request?.id ?? null, rule: request ? 'claim' : null, counts: request !== undefined },
    reason: request ? null : 'no_match',
  }));
  await database.db.sql`insert into transfers ${insertion(rows)}`;
  return txHash;
}

const merchantOf = () => makeMerchant(database.db, scope);
function dust(to: Merchant, count: number): Sent[] {
  const from = randomAddress();
  return Array.from({ length: count }, () => ({ to, from, value: 1n }));
}

test('a payment after 150 tiny transfers to the same wallet → its sender is asked to sign for it', async () => {
  const merchant = await merchantOf();
  const request = await makeRequest(database.db, scope, merchant);
  const due = BigInt(request.usdc_micro);
  const [payer, other] = [randomAddress(), randomAddress()];
  const others = { to: merchant, from: other, value: due + 500n };
  const payment = { to: merchant, from: payer, value: due + 77n };
  const txHash = await transaction([...dust(merchant, 150), others, payment, ...dust(merchant, 5)]);
  const outcome = await submitHash(ctx, request.id, { txHash });
  assert.deepEqual(outcome, {
    ...{ kind: 'needs_signature', chainId: chain.chainId, txHash, ordinal: 151 },
    ...{ from: payer, usdcMicro: due + 77n },
  });
});

test('a payment after 150 larger transfers to another merchant of the partner → its sender is asked to sign for it', async () => {
  const [merchant, neighbour] = [await merchantOf(), await merchantOf()];
  const request = await makeRequest(database.db, scope, merchant);
  const due = BigInt(request.usdc_micro);
  const payer = randomAddress();
  const others = dust(neighbour, 150).map((one) => ({ ...one, value: 10n * due }));
  const txHash = await transaction([...others, { to: merchant, from: payer, value: due + 77n }]);
  const outcome = await submitHash(ctx, request.id, { txHash });
  assert.ok(outcome.kind === 'needs_signature', outcome.kind);
  assert.deepEqual([outcome.from, outcome.ordinal], [payer, 150]);
  const { stored } = await reportTransaction(ctx, scope, txHash, merchant.id);
  assert.deepEqual(
    stored.map(({ ordinal }) => ordinal),
    [150],
  );
});

test('two parts from one wallet, of which one counts → it is asked to sign for the other, and not for anybody else’s', async () => {
  const merchant = await merchantOf();
  const request = await makeRequest(database.db, scope, merchant);
  const due = BigInt(request.usdc_micro);
  const payer = randomAddress();
  const counted = { to: merchant, from: payer, value: due - 2_000_000n, request };
  const strangers = [{ to: merchant, from: randomAddress(), value: due }];
  const alone = await transaction([counted, ...strangers]);
  assert.deepEqual(await submitHash(ctx, request.id, { txHash: alone }), {
    kind: 'underpaid',
    missingMicro: 2_000_000n,
  });
  await database.db.sql`delete from transfers where tx_hash = ${alone}`;
  const txHash = await transaction([counted, ...strangers, { to: merchant, from: payer, value: 2_000_000n }]);
  const outcome = await submitHash(ctx, request.id, { txHash });
  assert.ok(outcome.kind === 'needs_signature', outcome.kind);
  assert.deepEqual([outcome.from, outcome.ordinal], [payer, 2]);
});
