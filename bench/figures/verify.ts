import { loadavg } from 'node:os';
import { callRpc } from '../../src/chain/rpc.ts';
import type { Context } from '../../src/context.ts';
import { listenForChanges } from '../../src/db/changes.ts';
import { openOwner } from '../../src/db/connection.ts';
import { accessOf } from '../../src/db/logins.ts';
import { runJobs } from '../../src/jobs.ts';
import { makeSleeper, type Sleeper } from '../../src/lib/concurrency/sleeper.ts';
import { pause } from '../../src/lib/time.ts';
import { startDevChain } from '../../test/support/chain/dev-chain.ts';
import { pgbenchArm } from '../creates.ts';
import type { Figure, Finding } from '../figure.ts';
import { cpuMs, databaseCpuMs } from '../processor-time.ts';
import { at } from '../reads.ts';
import { type RecordingProxy, startRecordingProxy } from '../recording-proxy.ts';
import { type Arm, interleave, spread } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';
import {
  makeRowsToVerify,
  makeWallets,
  offerBlock,
  type PaidChain,
  prepareChain,
  rowsScript,
  verifyShape,
} from '../verify-fixtures.ts';

const rounds = Number(process.env.BENCH_ROUNDS || 8);
const seconds = 3;
const limitMs = 60_000;
/** The pause between blocks. No chain has shorter ones. */
const betweenBlocksMs = 500;
const names = {
  many: 'blocks of 500, 1e5 wallets',
  one: 'blocks of 500, 1 wallet',
  large: 'blocks of 1,000, 1e5 wallets',
  rows: 'the same rows by pgbench',
};

/**
 * What is measured beside the rates: the time from the final block to each of its events, by the commit that wrote it,
 * and until the last one was seen (ms), calls to the provider, and the processor time of this process and of the
 * database, in milliseconds per event.
 */
type Seen = Record<'eventMs' | 'lastEventMs' | 'calls' | 'messages' | 'serviceMs' | 'databaseMs', number[]>;

type Place = PaidChain & { proxy: RecordingProxy };
type Bench = Context & { news: Sleeper; folder: string };

async function stageChain(stage: Stage, chainId: number, testMode: boolean): Promise<Place> {
  const node = await startDevChain(chainId, stage.folder);
  stage.onEnd(node.stop);
  const proxy = await startRecordingProxy(node.url);
  stage.onEnd(proxy.close);
  const finality = [{ upToUsdcMicro: null, confirmations: 2 }];
  const chain = { ...node.chain, rpcUrls: [proxy.url], pollMs: 100, finality };
  const place = { chain, url: node.url, testMode, wallets: testMode ? verifyShape.wallets : 1, proxy };
  await prepareChain(place);
  return place;
}

async function mine({ url, proxy }: Place): Promise<void> {
  await callRpc(url, 'anvil_mine', ['0x1'], 30_000);
  await proxy.show();
}

/** How often to check whether everything is done, beside each notification of the service. */
const lookMs = 100;

/** Waits until the chain is read up to its head, and its transfers are matched or, for `verified`, also verified. */
async function until({ db, news }: Bench, { chain, url }: Place, what: 'matched' | 'verified'): Promise<void> {
  const head = Number(await callRpc(url, 'eth_blockNumber', []));
  const { chainId } = chain;
  const limit = AbortSignal.timeout(limitMs);
  for (; !limit.aborted; await news.sleep(lookMs, limit)) {
    const [row] = await db.sql<{ done: boolean }[]>`
      select c.number >= ${head}
        and not exists (select from transfers where chain_id = ${chainId} and judged_at is null)
        and (${what === 'matched'} or not exists (
          select from transfers where chain_id = ${chainId} and counts and final_at is null)) as done
      from chain_cursors c where c.chain_id = ${chainId}`;
    if (row?.done) return;
  }
  throw new Error(`chain ${chainId}: not ${what} within ${limitMs / 1000} s`);
}

/** Checks that each request has its event; returns when each event was committed, in milliseconds since 1970. */
async function readEvents({ db }: Context, ids: string[]): Promise<number[]> {
  const [row] = await db.sql<{ verified: number; events: number[] }[]>`
    select (select count(*)::int from requests where id = any(${ids}::uuid[]) and proof_status = 'verified') as verified,
      array(select (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8
        from webhook_deliveries where request_id = any(${ids}::uuid[])) as events`;
  if (row?.verified !== ids.length || row.events.length !== ids.length) {
    throw new Error(`${ids.length} paid, ${row?.verified} verified, ${row?.events.length} events`);
  }
  return row.events;
}

/** Reads, matches and verifies blocks with this many transfers. Sending them to the chain is not measured. */
function blocksArm(ctx: Bench, place: Place, name: string, transfers: number, seen: Seen): Arm {
  const run = async (limit: number) => {
    let [spentMs, events] = [0, 0];
    while (spentMs < limit * 1000) {
      const ids = await offerBlock(ctx.db.sql, place, transfers);
      const [serviceBefore, databaseBefore] = [cpuMs(process.pid), databaseCpuMs(ctx.folder)];
      await mine(place);
      const mined = performance.now();
      await until(ctx, place, 'matched');
      const matchedMs = performance.now() - mined;
      const { calls, messages } = place.proxy.counts;
      await pause(betweenBlocksMs);
      await mine(place);
      const [final, finalAt] = [performance.now(), Date.now()];
      await until(ctx, place, 'verified');
      const finalMs = performance.now() - final;
      seen.lastEventMs.push(finalMs);
      seen.calls.push(calls + place.proxy.counts.calls);
      seen.messages.push(messages + place.proxy.counts.messages);
      seen.serviceMs.push((cpuMs(process.pid) - serviceBefore) / ids.length);
      seen.databaseMs.push((databaseCpuMs(ctx.folder) - databaseBefore) / ids.length);
      spentMs += matchedMs + finalMs;
      events += ids.length;
      for (const eventAt of await readEvents(ctx, ids)) seen.eventMs.push(eventAt - finalAt);
      await pause(betweenBlocksMs);
    }
    return (1000 * events) / spentMs;
  };
  return { name, run };
}

const emptySeen = (): Seen => ({
  eventMs: [],
  lastEventMs: [],
  calls: [],
  messages: [],
  serviceMs: [],
  databaseMs: [],
});

const mean = (values: number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;

async function measure(stage: Stage): Promise<Finding> {
  const service = await stageService(stage, {}, { track_commit_timestamp: 'on' });
  const [many, one] = [await stageChain(stage, 31337, true), await stageChain(stage, 31338, false)];
  const news = makeSleeper();
  const ctx: Bench = { ...service.ctx, chains: { test: [many.chain], live: [one.chain] }, news, folder: stage.folder };
  const raise = (error: unknown) => {
    throw error;
  };
  stage.onEnd(listenForChanges(ctx.db, news.wake, raise));
  process.stdout.write('Partners, wallets and requests …\n');
  const owner = openOwner(service.env.DATABASE_URL as string);
  stage.onEnd(() => owner.end());
  await makeWallets(ctx.db.sql);
  await makeRowsToVerify(ctx.db.sql);
  await owner.unsafe('create sequence bench_rows minvalue 0; grant usage on sequence bench_rows to quittance_service');
  await owner.unsafe('vacuum analyze');
  const stop = new AbortController();
  const jobs = runJobs(ctx, stop.signal, { pools: service.pools });
  stage.onEnd(() => {
    stop.abort();
    return jobs;
  });
  for (const place of [many, one]) {
    await mine(place);
    await until(ctx, place, 'verified');
  }
  const seen = { many: emptySeen(), one: emptySeen(), large: emptySeen() };
  const access = accessOf(service.env.DATABASE_URL as string, service.ctx.config.secretKeys);
  const load = loadavg()[0]?.toFixed(1);
  const measured = await interleave(
    [
      blocksArm(ctx, many, names.many, 500, seen.many),
      blocksArm(ctx, one, names.one, 500, seen.one),
      blocksArm(ctx, many, names.large, 1000, seen.large),
      pgbenchArm(names.rows, access.service, rowsScript(31340), stage.folder),
    ],
    rounds,
    seconds,
  );
  return {
    facts: [
      `${rounds} rounds of ${seconds} s per arm after one to warm up; load ${load} when they began.`,
      `${verifyShape.wallets} watched wallets of ${verifyShape.partners} partners.`,
      'One process runs all loops of the service; the chain (anvil), the proxy that counts its calls and the database',
      'run on the same cores. Finality of two blocks; a payment is read, matched and attached, and verified by the next block.',
    ],
    comparisons: [
      { title: 'events, 1e5 wallets against 1', arm: names.many, base: names.one, measured, target: 0.95 },
      { title: 'events, blocks of 500, against the rows', arm: names.many, base: names.rows, measured },
      { title: 'events, blocks of 1,000, against the rows', arm: names.large, base: names.rows, measured },
    ],
    table: {
      head: [
        'arm',
        'final block to event: p50',
        'p99',
        'to the last event of a block: median',
        'longest',
        'calls, block and final block',
        'messages',
        'processor time an event: process + database',
      ],
      rows: (['many', 'one', 'large'] as const).map((name) => {
        const { eventMs, lastEventMs, calls, messages, serviceMs, databaseMs } = seen[name];
        const [ms, all, sent] = [spread(lastEventMs), spread(calls), spread(messages)];
        return [
          `${names[name]}: ${lastEventMs.length} blocks, ${eventMs.length} events`,
          `${at(eventMs, 0.5).toFixed(0)} ms`,
          `${at(eventMs, 0.99).toFixed(0)} ms`,
          `${ms.median.toFixed(0)} ms`,
          `${ms.max.toFixed(0)} ms`,
          `${all.median.toFixed(0)}`,
          `${sent.median.toFixed(0)}`,
          `${mean(serviceMs).toFixed(2)} + ${mean(databaseMs).toFixed(2)} ms`,
        ];
      }),
    },
  };
}

export const figure: Figure = {
  what:
    'Payments verified: blocks with 500 and 1,000 transfers, half of which pay a request each by its reference, to wallets ' +
    'drawn from 100,000 watched ones or all to one; from the block to the last event written. Against `pgbench` writing the ' +
    'same rows (transfer, request, reserved amount, event), one transaction each.',
  limitMinutes: 15,
  measure,
};
