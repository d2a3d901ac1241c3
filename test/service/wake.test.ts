import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import { theService } from '../../src/audit/write.ts';
import { connect, type Database } from '../../src/db/connection.ts';
import { runJobs } from '../../src/jobs.ts';
import { pause } from '../../src/lib/time.ts';
import { enableEndpoint, setUrl } from '../../src/webhooks/endpoint.ts';
import { replayDelivery } from '../../src/webhooks/replay.ts';
import { testContext } from '../support/app.ts';
import { testDatabase } from '../support/database.ts';
import { makeEvents } from '../support/deliveries.ts';
import { makeMerchant, makePartner, makeRequest, randomAddress } from '../support/fixtures.ts';
import { behaviours, startReceiver } from '../support/net/receiver.ts';
import { until } from '../support/until.ts';

/** Anything that only a notification can wake sleeps until long after the test. */
const neverMs = 3_600_000;

let database: Awaited<ReturnType<typeof testDatabase>>;
/** The connections of another node, which does the writing. */
let other: Database;
let shop: Awaited<ReturnType<typeof openShop>>;
beforeEach(async () => {
  database = await testDatabase();
  other = connect(database.access);
  shop = await openShop();
});
afterEach(async () => {
  await other?.close();
  await database?.drop();
});

async function openShop() {
  const { test: scope } = await makePartner(database.db);
  return { scope, merchant: await makeMerchant(database.db, scope) };
}

/** Runs the loops of a node until the work is done. `sent` holds the statements that it has sent so far. */
async function withLoops(pollMs: number, work: (sent: string[]) => Promise<void>): Promise<void> {
  const sent: string[] = [];
  for (const pool of database.db.pools) pool.observer = (_connection, { text }) => sent.push(text);
  const stop = new AbortController();
  const running = runJobs(testContext(database.db), stop.signal, { pollMs });
  try {
    await work(sent);
  } finally {
    stop.abort();
    await running;
  }
}

/** Waits until no loop polls for transfers any longer. */
async function asleep(sent: string[]): Promise<void> {
  const isPoll = (text: string) =>
    /from transfers\s+where\s+chain_id = [^)]*judged_at is null\s[^)]*order by/.test(text);
  let before = 0;
  await until(async () => {
    await pause(500);
    const polls = sent.filter(isPoll).length;
    const isOver = polls > 0 && polls === before;
    before = polls;
    return isOver;
  }, 'no loop to poll for transfers');
}

/** A transfer that another node's watcher found, to a merchant and for no request. `told`: with a notification. */
async function found(told: boolean): Promise<string> {
  const { scope, merchant } = shop;
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  await database.owner.begin(async (tx) => {
    if (!told) await tx`set local session_replication_role = replica`; // no trigger sends a notification
    await tx`
      insert into transfers (chain_id, tx_hash, ordinal, block_number, block_hash, block_time, token_address, from_address,
        to_address, value, partner_id, test_mode, account_id)
      values (31337, ${txHash}, 0, 1, '0x1', now(), ${`0x${'5f'.repeat(20)}`}, ${randomAddress()}, ${merchant.wallet}, 1,
        ${scope.partnerId}, true, ${merchant.id})`;
  });
  return txHash;
}

async function judged(txHash: string): Promise<void> {
  const rows = () => other.sql`select from transfers where tx_hash = ${txHash} and judged_at is not null`;
  await until(async () => (await rows()).length === 1, 'the transfer to be judged');
}

test('another node stores a transfer → it is matched at once, without a poll', async () => {
  await withLoops(neverMs, async (sent) => {
    await asleep(sent);
    await judged(await found(true));
  });
});

test('a notification is lost with the connection that hears → the transfer is matched when that hears again', async () => {
  await withLoops(neverMs, async (sent) => {
    await asleep(sent);
    const transfer = await found(false);
    await until(async () => {
      const [ended] = await database.owner`
        select pg_terminate_backend(pid) as ended from pg_stat_activity
        where datname = current_database() and query ilike 'listen %'`;
      return ended?.ended === true;
    }, 'the connection that hears to be ended');
    await judged(transfer);
  });
});

test('a notification is lost → the next poll finds the transfer', async () => {
  await withLoops(500, async (sent) => {
    await asleep(sent);
    await judged(await found(false));
  });
});

test('a request’s time passes while all sleep → its expiry is stored', async () => {
  await withLoops(500, async (sent) => {
    await asleep(sent);
    const request = await makeRequest(other, shop.scope, shop.merchant);
    await other.sql`update requests set expires_at = now() + interval '1 second' where id = ${request.id}`;
    const rows = () => other.sql`select from requests where id = ${request.id} and status = 'expired'`;
    await until(async () => (await rows()).length === 1, 'the expiry to be stored');
  });
});

test('the 48 hours of a recovery pass while all sleep → the wallet changes then, not at the loop’s next minute', async () => {
  await withLoops(500, async (sent) => {
    await asleep(sent);
    const { scope, merchant } = shop;
    const wallet = randomAddress();
    await other.sql`
      insert into wallets values (${wallet}, ${scope.partnerId}, true, ${merchant.id}, now(), now())`;
    await other.sql`
      insert into wallet_changes (partner_id, test_mode, id, account_id, kind, state, old_wallet, new_wallet, started_at,
        signed_at, due_at, link_until)
      values (${scope.partnerId}, true, gen_random_uuid(), ${merchant.id}, 'recovery', 'signed', ${merchant.wallet},
        ${wallet}, now() - interval '50 hours', now() - interval '48 hours', now() + interval '1 second', now())`;
    const rows = () => other.sql`select from merchants where id = ${merchant.id} and wallet_address = ${wallet}`;
    await until(async () => (await rows()).length === 1, 'the new wallet to take over');
    assert.ok(sent.some((text) => text.includes('select min(greatest(due_at, settle_after)) from wallet_changes')));
  });
});

test('another node writes an event, sends one again, and enables an endpoint → each goes out at once, without a poll', async () => {
  const receiver = await startReceiver();
  const ctx = testContext(other);
  await setUrl(ctx, theService, shop.scope, receiver.url);
  await withLoops(neverMs, async (sent) => {
    await asleep(sent);
    const delivered = (count: number) => until(() => receiver.received.length === count, `${count} deliveries`);
    const [id = ''] = await makeEvents(other, shop.scope);
    await delivered(1);
    await replayDelivery(ctx, theService, shop.scope, id);
    await delivered(2);
    receiver.behave(behaviours.status(410));
    await replayDelivery(ctx, theService, shop.scope, id);
    await delivered(3);
    const disabled = () => other.sql`select from webhook_endpoints where disabled_at is not null`;
    await until(async () => (await disabled()).length === 1, 'the endpoint to be disabled');
    receiver.behave(behaviours.status(200));
    await enableEndpoint(ctx, theService, shop.scope);
    await delivered(4);
  });
  await receiver.close();
});
