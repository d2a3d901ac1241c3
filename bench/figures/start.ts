import { pause } from '../../src/lib/time.ts';
import type { Figure, Finding } from '../figure.ts';
import { makeFixtures } from '../fixtures.ts';
import { makeRequests } from '../requests.ts';
import { rounds, spread } from '../rounds.ts';
import { memoryOf, productionEnv, startProcess } from '../service-process.ts';
import { type Stage, stageService } from '../stage.ts';

const many = Number(process.env.BENCH_REQUESTS || 1_000_000);
/** How long a service that is ready reads its chains, rates and queues for the first time. */
const settleMs = 5_000;
const target = { seconds: 5, megabytes: 200 };

async function startTimes(stage: Stage, env: Record<string, string>) {
  const seconds: number[] = [];
  const megabytes: number[] = [];
  const most: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const service = await startProcess(stage, env);
    await pause(settleMs);
    const { nowMb, maxMb } = memoryOf(service);
    await service.stop();
    process.stdout.write(`  ${service.readySeconds.toFixed(1)} s, ${nowMb} MB, at most ${maxMb} MB\n`);
    if (round === 0) continue;
    seconds.push(service.readySeconds);
    megabytes.push(nowMb);
    most.push(maxMb);
  }
  return { seconds: spread(seconds), megabytes: spread(megabytes), maxMb: Math.max(...most) };
}

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  const { env: production } = await productionEnv(stage, env.DATABASE_URL as string);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const rows: string[][] = [];
  for (const count of [0, many]) {
    await makeRequests(ctx.db.sql, count);
    const { seconds, megabytes, maxMb } = await startTimes(stage, production);
    const met = seconds.median <= target.seconds && megabytes.median <= target.megabytes;
    rows.push([
      count.toLocaleString('en'),
      `**${seconds.median.toFixed(1)} s** (${seconds.min.toFixed(1)} to ${seconds.max.toFixed(1)})`,
      `**${megabytes.median} MB** (${megabytes.min} to ${megabytes.max})`,
      `${maxMb} MB`,
      `${target.seconds} s, ${target.megabytes} MB ${met ? '✓' : '✗'}`,
    ]);
  }
  return {
    facts: [
      `${rounds} starts after one to warm up. Ready: the first answer 200 of /readyz. Memory: the resident memory of the`,
      `process ${settleMs / 1000} s later, and at its most.`,
    ],
    table: { head: ['requests', 'ready after', 'memory', 'at most', 'target'], rows },
  };
}

export const figure: Figure = {
  what: 'The start of a process in production on a migrated database of 500 partners, with two local chains.',
  limitMinutes: 20,
  measure,
};
