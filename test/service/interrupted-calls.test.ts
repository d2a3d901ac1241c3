import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { privateKeyToAccount } from 'viem/accounts';
import { connect, type Database, isUnreachable } from '../../src/db/connection.ts';
import { buildServer } from '../../src/http/server.ts';
import { beginningOf, signalProcess } from '../../src/lib/processes.ts';
import { claimTypedData } from '../../src/payments/submitted/claim.ts';
import type { RequestRow } from '../../src/requests/store.ts';
import { type Answer, assertRefused, send } from '../support/api/client.ts';
import { testConfig } from '../support/app.ts';
import { accessTo } from '../support/database.ts';
import { makeKey, setRate } from '../support/fixtures.ts';
import { type PayFixtures, payFixtures } from '../support/payments/pay-fixtures.ts';
import { until } from '../support/until.ts';

/** More statements than any call sends. */
const maxStatements = 120;

let fixtures: PayFixtures;
let db: Database;
let key: string;
let url: string;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  fixtures = await payFixtures();
  stops.unshift(fixtures.stop);
  await setRate(fixtures.db, 'EUR', '0.92');
  ({ key } = await makeKey(fixtures.db, fixtures.scope));
  db = connect(fixtures.access, { service: 2, scoped: 2 });
  stops.unshift(db.close);
  const node = await buildServer({ ...fixtures.ctx, db, config: testConfig({ trustProxy: ['127.0.0.0/8'] }) });
  stops.unshift(() => node.close());
  url = await node.listen({ host: '127.0.0.1', port: 0 });
});
after(async () => {
  for (const stop of stops) await stop();
});

/** Does something to the session that is about to send the n-th statement from now on. */
function beforeStatement(n: number, disturb: (session: number, text: string) => void): { reached(): boolean } {
  let sent = 0;
  for (const pool of db.pools) {
    pool.observer = (session, { text }) => {
      if (++sent === n) disturb(session, text);
    };
  }
  return { reached: () => sent >= n };
}

function leaveAlone(): void {
  for (const pool of db.pools) pool.observer = null;
}

/** As often as it sends statements: ends its session before one of them. @returns how many there were */
async function interruptEach(call: () => Promise<Answer>): Promise<number> {
  for (let n = 1; n <= maxStatements; n++) {
    const { reached } = beforeStatement(n, (session) => signalProcess(session, 'SIGTERM'));
    const { status, text } = await call();
    leaveAlone();
    assert.ok(status < 500 || status === 503, `session ended before statement ${n}: ${status} ${text}`);
    if (!reached()) return n - 1;
  }
  throw new Error(`more than ${maxStatements} statements`);
}

const form = (path: string, fields: Record<string, string>, n: number) =>
  send(url, 'POST', path, {
    raw: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': `10.0.${n}.1` },
  });

/** A payment that only its sender's signature binds, and the form that they post. */
async function unclaimed(): Promise<{ request: RequestRow; post: () => Promise<Answer> }> {
  const { ctx, node } = fixtures;
  const request = await fixtures.request();
  const usdcMicro = BigInt(request.usdc_micro) + 77n;
  const { txHash, from } = await fixtures.pay(request, { usdcMicro, tagged: false });
  await fixtures.turn();
  const data = claimTypedData(ctx.config, request.id, { chainId: node.chain.chainId, txHash, ordinal: 0 });
  const signature = await privateKeyToAccount(from.privateKey).signTypedData(data);
  const fields = { chain_id: String(node.chain.chainId), tx_hash: txHash, ordinal: '0', signature };
  let n = 0;
  return { request, post: () => form(`/pay/${request.id}/claim`, fields, ++n) };
}

test('a session ended before each statement of a claim → answered as usual or 503, and the payment counts once', async () => {
  const { request, post } = await unclaimed();
  assert.ok((await interruptEach(post)) > 10);
  assert.equal((await post()).status, 200);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
  await fixtures.node.mine(4);
  await fixtures.turn();
  assert.equal((await fixtures.read(request)).proof_status, 'verified');
  assert.equal((await fixtures.events(request)).length, 1);
});

test('a session ended before each statement of any other call → answered as usual or 503', async () => {
  const request = await fixtures.request();
  const { txHash } = await fixtures.pay(request, { usdcMicro: 1n, tagged: false });
  const api = (method: string, path: string, body?: object) =>
    send(url, method, `/api/v1/requests${path}`, { key, body });
  const body = { account_id: fixtures.merchant.id, fiat_amount_int: 1250, idempotency_key: 'i'.repeat(32) };
  let n = 0;
  const calls: Record<string, () => Promise<Answer>> = {
    create: () => api('POST', '/create', body),
    list: () => api('GET', ''),
    read: () => api('GET', `/${request.id}`),
    page: () => send(url, 'GET', `/pay/${request.id}`),
    agent: () => send(url, 'GET', `/pay/${request.id}`, { headers: { accept: 'application/json' } }),
    hash: () => form(`/pay/${request.id}/proof`, { tx_hash: txHash }, ++n),
    cancel: () => api('POST', `/${request.id}/cancel`),
  };
  for (const [name, call] of Object.entries(calls)) assert.ok((await interruptEach(call)) > 0, name);
});

test('a node that stalls in the middle of a claim until the server ends its transaction → 503, and the claim counts when sent again', async () => {
  const { request, post } = await unclaimed();
  let stood = false;
  for (const pool of db.pools) {
    pool.observer = (session, { text }) => {
      if (stood || !/^\s*update transfers t set request_id/.test(text)) return;
      stood = true;
      // Nothing else of this process runs meanwhile, as when it was stopped in its tracks.
      while (beginningOf(session) !== null) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    };
  }
  const { status } = await post();
  leaveAlone();
  assert.ok(stood);
  assert.equal(status, 503);
  assert.equal((await fixtures.read(request)).proof_status, 'none');
  assert.equal((await post()).status, 200);
  assert.equal((await fixtures.read(request)).proof_status, 'attached');
});

test('a statement that waits for a lock until the server ends it → 503', async () => {
  const request = await fixtures.request();
  const answer = await fixtures.owner.begin(async (tx) => {
    await tx`select from requests where id = ${request.id} for update`;
    const waiting = send(url, 'POST', `/api/v1/requests/${request.id}/cancel`, { key });
    await until(async () => {
      const rows = await tx`
        select pg_cancel_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and application_name = 'quittance'`;
      return rows.length > 0;
    }, 'the call waits');
    return waiting;
  });
  assertRefused(answer, 503, 'unavailable');
});

test('a database whose socket is gone, or whose name is not known → unreachable', async () => {
  for (const address of ['postgres://u:p@%2Fnonexistent/none', 'postgres://u:p@database.invalid/none']) {
    const away = connect(accessTo(address));
    const error = await away.sql`select 1`.catch((failed) => failed);
    await away.close();
    assert.ok(isUnreachable(error), String(error));
  }
});
