import { createHmac, randomUUIDv7 } from 'node:crypto';
import { Agent } from 'undici';
import type { Context } from '../src/context.ts';
import type { Sql } from '../src/db/connection.ts';
import { newest } from '../src/lib/encrypt.ts';
import { pause } from '../src/lib/time.ts';
import { startDelivering } from '../src/webhooks/deliver.ts';
import { proofVerified, proofVerifiedBody } from '../src/webhooks/enqueue.ts';
import { maxPosts } from '../src/webhooks/rules.ts';
import { idOf, shape } from './fixtures.ts';
import { type Answer, post, repeat } from './post.ts';
import type { Arm } from './rounds.ts';

export const names = { loop: 'signed deliveries', bare: 'bare POST loop' };
/** More than any machine delivers in a second. */
export const maxPerSecond = 20_000;

export type Prepared = { id: string; path: string; body: string };

/** Stores verified requests with pending events, spread over all receivers in turn. */
export async function prepareDeliveries(sql: Sql, count: number): Promise<Prepared[]> {
  const rows = Array.from({ length: count }, (_, n) => {
    const [id, requestId, txHash] = [randomUUIDv7(), randomUUIDv7(), `0x${String(n).padStart(64, '0')}`];
    const receiver = n % shape.receivers;
    const accountId = idOf('b', receiver);
    const metadata = '{"order":"A-1047","till":"3"}';
    const event = {
      requestId,
      accountId,
      txHash,
      payerAddress: `0x${'ab'.repeat(20)}`,
      metadata,
      verifiedAt: new Date(),
    };
    const body = proofVerifiedBody(id, event);
    return {
      n,
      id,
      partner_id: idOf('a', receiver),
      account_id: accountId,
      request_id: requestId,
      tx_hash: txHash,
      body,
    };
  });
  for (let from = 0; from < count; from += 5000) {
    await sql`
      with made as materialized (
        select * from json_to_recordset(${JSON.stringify(rows.slice(from, from + 5000))}::json)
          as m (n int, id uuid, partner_id uuid, account_id uuid, request_id uuid, tx_hash text, body text)
      ), paid as (
        insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate,
          payment_mode, metadata, wallet_address, reference, start_blocks, proof_status, tx_hash, payer_address,
          created_at, expires_at, proof_verified_at)
        select partner_id, true, request_id, account_id, 1250, 'EUR', 13586957, false, '0.92', 'pos', '{}',
          '0x' || repeat('ab', 20), uuid_send(id), '{}', 'verified', tx_hash, '0x' || repeat('ab', 20),
          now() - interval '1 day' + n * interval '1 ms', now(), now()
        from made
      )
      insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
      select partner_id, true, id, request_id, ${proofVerified}, body, now() from made`;
  }
  return rows.map(({ n, id, body }) => ({ id, body, path: `/hook/${n % shape.receivers}` }));
}

/** Keeps the deliveries as they are written, for `resetDeliveries`. Both are done as the owner of the tables. */
export async function keepDeliveries(owner: Sql): Promise<void> {
  await owner`create table bench_deliveries as select * from webhook_deliveries`;
}

/** Restores all deliveries as events that were never attempted. */
export async function resetDeliveries(owner: Sql): Promise<void> {
  await owner`truncate webhook_attempts, webhook_deliveries`;
  await owner`insert into webhook_deliveries select * from bench_deliveries`;
  await owner`vacuum analyze webhook_deliveries`;
}

/** The service's own loop on a queue that never runs empty. It claims, signs, posts through the guard and records. */
export function loopArm(ctx: Context, owner: Sql): Arm {
  const { sql } = ctx.db;
  return {
    name: names.loop,
    run: async (seconds) => {
      await resetDeliveries(owner);
      const startedAt = performance.now();
      const ending = new AbortController();
      const ended = startDelivering(ctx, ending.signal);
      await pause(seconds * 1000);
      ending.abort();
      await ended;
      const passedMs = performance.now() - startedAt;
      const [row] = await sql<{ delivered: number; failed: number; left: number }[]>`
        select count(*) filter (where state = 'delivered')::int as delivered,
          count(*) filter (where state = 'waiting' and attempts > 0)::int as failed,
          count(*) filter (where state = 'waiting')::int as left from webhook_deliveries`;
      if (!row || row.failed > 0 || row.left === 0) throw new Error('deliveries failed, or ran out');
      return (row.delivered / passedMs) * 1000;
    },
  };
}

/**
 * Sends a body with these headers; anything but 200 fails the run.
 *
 * @param answer if given, receives the headers and the body
 */
export async function send(
  agent: Agent,
  origin: string,
  { path, body }: Prepared,
  headers: Record<string, string>,
  answer?: Answer,
): Promise<void> {
  const status = await post(agent, origin, path, headers, body, answer);
  if (status !== 200) throw new Error(`the receiver answered ${status}`);
}

/** The same bodies to the same receiver, on as many kept connections, with one HMAC each and nothing else. */
export function bareArm(ctx: Context, origin: string, deliveries: Prepared[]): Arm {
  const secret = newest(ctx.config.secretKeys).key;
  let sent = 0;
  return {
    name: names.bare,
    run: async (seconds) => {
      const agent = new Agent({ pipelining: 1 });
      const rate = await repeat(maxPosts, seconds, () => {
        const delivery = deliveries[sent++ % deliveries.length] as Prepared;
        const t = Math.floor(Date.now() / 1000);
        const signature = createHmac('sha256', secret).update(`${t}.${delivery.body}`).digest('hex');
        return send(agent, origin, delivery, {
          'content-type': 'application/json',
          'x-service-signature': `v1=${signature},t=${t}`,
          'x-service-delivery': delivery.id,
        });
      });
      await agent.destroy();
      return rate;
    },
  };
}
