import { type Job, PgBoss } from 'pg-boss';
import { Agent } from 'undici';
import { openOwner, type Sql } from '../src/db/connection.ts';
import { pause } from '../src/lib/time.ts';
import { proofVerified } from '../src/webhooks/enqueue.ts';
import { newSecret, signedHeaders } from '../src/webhooks/sign.ts';
import { type Prepared, send } from './deliveries.ts';
import type { Arm } from './rounds.ts';

export const bossNames = { whole: 'pg-boss, whole batches', each: 'pg-boss, a result for each job' };
/** Batch sizes that are tried with pg-boss. The first round of each arm chooses the fastest one for all others. */
const batches = [100, 250, 500, 1000];
const queue = 'deliveries';
const workers = 2;

type Boss = { boss: PgBoss; owner: Sql; origin: string; deliveries: Prepared[]; secret: string };
/** `batch`: how many jobs are fetched together; `atOnce`: how many POSTs are in progress then. */
export type BossArm = Arm & { batch(): number; atOnce(): number };

/**
 * pg-boss with the same bodies as jobs, sent with the headers of our deliveries by two workers that fetch a batch each,
 * in two ways: a batch is completed as a whole, and nothing is stored of its answers; or each job of a batch is
 * completed with a result of its own, which says of the attempt what ours does. For comparisons with our loop the second
 * is the fairer: it too stores each attempt.
 */
export async function bossArms(
  databaseUrl: string,
  origin: string,
  deliveries: Prepared[],
): Promise<{ whole: BossArm; each: BossArm; stop(): Promise<void> }> {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  boss.on('error', (error) => process.stderr.write(`${error.stack}\n`));
  await boss.start();
  await boss.createQueue(queue);
  const owner = openOwner(databaseUrl);
  const of: Boss = { boss, owner, origin, deliveries, secret: newSecret() };
  return {
    whole: armOf(bossNames.whole, of, workWhole),
    each: armOf(bossNames.each, of, workEach),
    stop: async () => {
      await boss.stop({ graceful: false });
      await owner.end();
    },
  };
}

/** @returns how many jobs were sent and completed */
type Work = (of: Boss, agent: Agent, batchSize: number, seconds: number) => Promise<number>;

function armOf(name: string, of: Boss, work: Work): BossArm {
  let best = 0;
  const run = async (batchSize: number, seconds: number) => {
    await refill(of);
    const agent = new Agent({ pipelining: 1 });
    const startedAt = performance.now();
    const done = await work(of, agent, batchSize, seconds);
    const passedMs = performance.now() - startedAt;
    await agent.destroy();
    await checkCompleted(of, done);
    return (done / passedMs) * 1000;
  };
  const choose = async () => {
    const rates: [number, number][] = [];
    for (const batch of batches) rates.push([batch, await run(batch, 2)]);
    return rates.reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  };
  return {
    name,
    batch: () => best,
    atOnce: () => workers * best,
    run: async (seconds) => {
      best ||= await choose();
      return run(best, seconds);
    },
  };
}

/** Stores all deliveries as jobs that were never fetched. */
async function refill({ boss, owner, deliveries }: Boss): Promise<void> {
  await boss.deleteAllJobs(queue);
  for (let from = 0; from < deliveries.length; from += 5000) {
    await boss.insert(
      queue,
      deliveries.slice(from, from + 5000).map((data) => ({ data })),
    );
  }
  await owner`vacuum analyze`;
}

async function checkCompleted({ owner, deliveries }: Boss, done: number): Promise<void> {
  const [row] = await owner<{ completed: number }[]>`
    select count(*)::int as completed from pgboss.job where name = ${queue} and state = 'completed'`;
  if (row?.completed !== done) throw new Error(`pg-boss completed ${row?.completed} of ${done} jobs`);
  if (done >= deliveries.length) throw new Error('jobs ran out');
}

const headersOf = (job: Prepared, secret: string, now: Date) =>
  signedHeaders({ deliveryId: job.id, event: proofVerified, body: job.body }, secret, null, now);

const workWhole: Work = async ({ boss, origin, secret }, agent, batchSize, seconds) => {
  const endAt = performance.now() + seconds * 1000;
  let done = 0;
  const worker = async () => {
    while (performance.now() < endAt) {
      const jobs = await boss.fetch<Prepared>(queue, { batchSize });
      if (jobs.length === 0) throw new Error('jobs ran out');
      await Promise.all(jobs.map(({ data }) => send(agent, origin, data, headersOf(data, secret, new Date()))));
      const ids = jobs.map(({ id }) => id);
      await boss.complete(queue, ids);
      done += ids.length;
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return done;
};

const workEach: Work = async ({ boss, origin, secret }, agent, batchSize, seconds) => {
  let done = 0;
  const attempt = async ({ id, data }: Job<Prepared>) => {
    const startedAt = new Date();
    const headers = headersOf(data, secret, startedAt);
    const answer = { headers: {}, body: '' };
    await send(agent, origin, data, headers, answer);
    const output = {
      url: origin + data.path,
      started_at: startedAt.toISOString(),
      duration_ms: Date.now() - startedAt.getTime(),
      status_code: 200,
      error: null,
      request_headers: headers,
      response_headers: answer.headers,
      response_body: answer.body,
    };
    return { id, status: 'completed' as const, output };
  };
  const options = { batchSize, localConcurrency: workers, perJobResults: true, burstWhenBatchFull: true } as const;
  await boss.work(queue, options, async (jobs: Job<Prepared>[]) => {
    const results = await Promise.all(jobs.map(attempt));
    done += results.length;
    return results;
  });
  await pause(seconds * 1000);
  await boss.offWork(queue, { wait: true });
  return done;
};
