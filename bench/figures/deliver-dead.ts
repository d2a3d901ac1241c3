import type { Context } from '../../src/context.ts';
import { openOwner, type Sql } from '../../src/db/connection.ts';
import { pause } from '../../src/lib/time.ts';
import type { RunningService } from '../../src/service.ts';
import { startDelivering } from '../../src/webhooks/deliver.ts';
import { proofVerified } from '../../src/webhooks/enqueue.ts';
import { startChild } from '../child.ts';
import { keepDeliveries, prepareDeliveries, resetDeliveries } from '../deliveries.ts';
import type { Figure, Finding } from '../figure.ts';
import { idOf, makeEndpoints, makeFixtures, shape } from '../fixtures.ts';
import { type Arm, interleave, ratio, rounds, spread } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';

/** Longer than an attempt may take, so that time-outs are part of it. */
const seconds = 10;
const pending = 200_000;
const hanging = shape.receivers / 5;
/** How many receivers have no pending events, so that each of their events is new. */
const fresh = 10;
const freshEveryMs = 20;
const names = { none: 'none hanging', some: 'a fifth hanging' };

/** Sets all endpoints as after an hour of success, the first `hang` of them at addresses that never answer. */
async function resetEndpoints({ db: { sql } }: Context, origin: string, hang: number): Promise<void> {
  for (let n = 0; n < shape.receivers + fresh; n++) {
    await sql`
      update webhook_endpoints set url = ${`${origin}/${n < hang ? 'hang' : 'hook'}/${n}`}, failures = 0, failing_since = null,
        probe_at = null, last_success_at = now() - interval '1 second' * ${n % 30}
      where partner_id = ${idOf('a', n)}`;
  }
}

/** Writes a new event every 20 ms, for one of ten partners in turn, until stopped. */
function writeFresh({ db: { sql } }: Context): { stop(): Promise<void> } {
  const ending = new AbortController();
  const written = (async () => {
    for (let n = 0; !ending.signal.aborted; n++) {
      await sql`
        insert into webhook_deliveries (partner_id, test_mode, id, request_id, event, body, next_attempt_at)
        select partner_id, true, gen_random_uuid(), id, ${proofVerified}, '{}', now() from requests
        where partner_id = ${idOf('a', shape.receivers + (n % fresh))} and test_mode
        order by created_at offset ${Math.floor(n / fresh)} limit 1`;
      await pause(freshEveryMs, ending.signal);
    }
  })();
  return {
    stop: () => {
      ending.abort();
      return written;
    },
  };
}

/** Stores one request for each event that may be written. The request identifies the event. */
const makeRequests = ({ db: { sql } }: Context) => sql`
  insert into requests (partner_id, test_mode, id, account_id, fiat_int, fiat_code, usdc_micro, reserved, rate, payment_mode,
    metadata, wallet_address, reference, start_blocks, proof_status, tx_hash, payer_address, created_at, expires_at,
    proof_verified_at)
  select partner_id, true, new_id, id, 1250, 'EUR', 13586957, false, '0.92', 'pos', '{}', wallet_address,
    uuid_send(new_id), '{}', 'verified', '0x' || repeat('0', 64), wallet_address, now() - n * interval '1 s', now(), now()
  from (
    select m.*, n, gen_random_uuid() as new_id
    from merchants m, generate_series(1, ${(seconds * 1000) / freshEveryMs}::int) n
    where m.id between ${idOf('b', shape.receivers)} and ${idOf('b', shape.receivers + fresh - 1)}) made`;

function arm(
  { ctx, pools }: Pick<RunningService, 'ctx' | 'pools'>,
  owner: Sql,
  origin: string,
  name: string,
  hang: number,
  lags: Record<string, number[]>,
): Arm {
  const { sql } = ctx.db;
  return {
    name,
    run: async (forSeconds) => {
      await resetEndpoints(ctx, origin, hang);
      await resetDeliveries(owner);
      const ending = new AbortController();
      const startedAt = performance.now();
      const ended = startDelivering({ ...ctx, db: pools.deliveries }, ending.signal);
      const writing = writeFresh(ctx);
      await pause(forSeconds * 1000);
      await writing.stop();
      const passedMs = performance.now() - startedAt;
      const [row] = await sql<{ delivered: number; left: number; fresh: number; lag_ms: number }[]>`
        select count(*) filter (where state = 'delivered')::int as delivered,
          count(*) filter (where state = 'waiting' and body <> '{}' and partner_id >= ${idOf('a', hang)})::int as left,
          count(*) filter (where body = '{}')::int as fresh,
          percentile_cont(0.99) within group (
            order by extract(epoch from coalesce(delivered_at, now()) - created_at) * 1000) filter (where body = '{}') as lag_ms
        from webhook_deliveries`;
      ending.abort();
      await ended;
      if (!row || row.left === 0 || row.fresh === 0) throw new Error('deliveries ran out');
      lags[name]?.push(row.lag_ms);
      return (row.delivered / passedMs) * 1000;
    },
  };
}

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, pools, env } = await stageService(stage);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const receiver = await startChild('receiver.ts', {});
  stage.onEnd(receiver.stop);
  await makeEndpoints(ctx.db.sql, ctx.config.secretKeys, receiver.origin, shape.receivers + fresh);
  await prepareDeliveries(ctx.db.sql, pending);
  await makeRequests(ctx);
  const owner = openOwner(env.DATABASE_URL as string);
  stage.onEnd(() => owner.end());
  await keepDeliveries(owner);
  await owner`vacuum analyze`;
  const lags: Record<string, number[]> = { [names.none]: [], [names.some]: [] };
  const arms = [
    arm({ ctx, pools }, owner, receiver.origin, names.none, 0, lags),
    arm({ ctx, pools }, owner, receiver.origin, names.some, hanging, lags),
  ];
  const measured = await interleave(arms, rounds, seconds);
  // The first entry of each list is from the warm-up round.
  const rates = Object.fromEntries(Object.entries(lags).map(([name, all]) => [name, all.slice(1)]));
  const more = ratio({ rates }, names.some, names.none);
  const lagRow = (name: string) => {
    const { median, min, max } = spread(rates[name] ?? []);
    return [`p99 lag of a new event, ${name}`, ...[median, min, max].map((ms) => `${ms.toFixed(0)} ms`)];
  };
  return {
    facts: [
      `${rounds} rounds of ${seconds} s per arm after one to warm up; ${pending} events pending at the start of each, for`,
      `${shape.receivers} receivers, ${hanging} of which hang in one arm; a new event every ${freshEveryMs} ms for ${fresh} others.`,
    ],
    comparisons: [{ title: 'throughput, a fifth hanging', arm: names.some, base: names.none, measured, target: 0.9 }],
    table: {
      head: ['', 'median', 'least', 'most'],
      rows: [
        lagRow(names.none),
        lagRow(names.some),
        ['their ratio (target: at most 2)', ...[more.median, more.min, more.max].map((times) => times.toFixed(2))],
      ],
    },
  };
}

export const figure: Figure = {
  what:
    'The delivery loop with many events pending while a fifth of the receivers take each POST and never answer, against ' +
    'the same with all of them answering; and how long a new event for another receiver takes meanwhile, from its commit ' +
    'to the record of its delivery.',
  limitMinutes: 15,
  measure,
};
