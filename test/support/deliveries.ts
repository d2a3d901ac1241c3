import pino from 'pino';
import { type Config, readConfig } from '../../src/config.ts';
import type { Context } from '../../src/context.ts';
import type { Database, Scope } from '../../src/db/connection.ts';
import { createDeliveryDeps } from '../../src/webhooks/deliver.ts';
import { enqueueProofVerified } from '../../src/webhooks/enqueue.ts';
import { testDatabase } from './database.ts';
import { deliverDue } from './deliver-due.ts';
import { makeMerchant, makeRequest, randomAddress, testSecrets } from './fixtures.ts';
import { type Receiver, startReceiver } from './net/receiver.ts';

/** A rotation by a caller who knows of no pending secret. */
export const firstRotation = { formKey: null, replaces: null };

/** A clock that stops until the test moves it. */
export function movedClock() {
  let at = Date.now();
  return {
    now: () => new Date(at),
    forward: (ms: number) => {
      at += ms;
    },
  };
}

/** A context for deliveries only. `config` overrides the sandbox's configuration. */
export function deliveryContext(db: Database, config: Partial<Config> = {}) {
  const clock = movedClock();
  const base = readConfig({ SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}` });
  const ctx: Context = {
    config: { ...base, secretKeys: testSecrets, ...config },
    db,
    clock,
    log: pino({ level: 'silent' }),
    chains: { test: [], live: [] },
    sandbox: null,
  };
  return { ctx, clock };
}

/** A separate database and receivers, for tests that deliver in single passes. */
export async function deliveryStage() {
  const database = await testDatabase();
  const { ctx, clock } = deliveryContext(database.db);
  // Long enough for any receiver that answers, on a busy machine too.
  const deps = createDeliveryDeps(ctx, { timeoutMs: 4_000 });
  const receivers: Receiver[] = [];
  return {
    ctx,
    clock,
    db: database.db,
    owner: database.owner,
    deps,
    /** Delivers what is due. @returns how many attempts were made */
    pass: () => deliverDue(ctx, deps),
    receiver: async (options?: Parameters<typeof startReceiver>[0]): Promise<Receiver> => {
      const receiver = await startReceiver(options);
      receivers.push(receiver);
      return receiver;
    },
    stop: async () => {
      await Promise.all(receivers.map((receiver) => receiver.close()));
      await Promise.all([deps.posters.test.close(), deps.posters.live.close()]);
      await database.drop();
    },
  };
}

/** Events of verified requests, written as verification writes them. Returns the delivery ids. */
export async function makeEvents(db: Database, scope: Scope, count = 1, metadata = '{"order":"A-1","7":"b"}') {
  const merchant = await makeMerchant(db, scope);
  const ids: string[] = [];
  for (let made = 0; made < count; made++) {
    const request = await makeRequest(db, scope, merchant, { metadata });
    await db.scoped(scope, (tx) =>
      enqueueProofVerified(tx, [
        {
          scope,
          requestId: request.id,
          accountId: merchant.id,
          txHash: `0x${'ab'.repeat(32)}`,
          payerAddress: randomAddress(),
          metadata: request.metadata,
          verifiedAt: new Date(),
        },
      ]),
    );
    const [row] = await db.sql`select id from webhook_deliveries where request_id = ${request.id}`;
    ids.push(row?.id);
  }
  return ids;
}

/** Makes a delivery due and allows the next probe. */
export async function makeDue(db: Database, scope: Scope): Promise<void> {
  await db.sql`update webhook_deliveries set next_attempt_at = now() - interval '1 second'
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  await db.sql`update webhook_endpoints set probe_at = now() - interval '1 second'
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and probe_at is not null`;
}

export async function deliveryRow(db: Database, id: string) {
  const [row] = await db.sql`
    select *, extract(epoch from next_attempt_at - now()) * 1000 as wait_ms from webhook_deliveries where id = ${id}`;
  if (!row) throw new Error(`no delivery ${id}`);
  return row;
}

export async function endpointRow(db: Database, scope: Scope) {
  const [row] = await db.sql`select *, extract(epoch from probe_at - now()) * 1000 as probe_in_ms
    from webhook_endpoints where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}`;
  if (!row) throw new Error('no endpoint');
  return row;
}

export function attemptRows(db: Database, deliveryId: string) {
  return db.sql`select * from webhook_attempts where delivery_id = ${deliveryId} order by started_at, id`;
}
