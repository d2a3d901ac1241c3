import { openOwner, usualWaits } from '../../src/db/connection.ts';
import { countingRows, pgbenchArm } from '../creates.ts';
import type { Comparison, Figure, Finding } from '../figure.ts';
import { makeFixtures } from '../fixtures.ts';
import { makeBoth, picked, tasksOf } from '../partitions.ts';
import { makeRequests } from '../requests.ts';
import { interleave, rounds } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';

const many = Number(process.env.BENCH_REQUESTS || 1_000_000);
const seconds = 3;
const repeating = 4;

/** How PostgreSQL plans a prepared statement: by its own choice, or once for all values. */
const planned = { auto: 'planned as PostgreSQL chooses', force_generic_plan: 'planned once' };

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  const url = env.DATABASE_URL as string;
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  await makeRequests(ctx.db.sql, many);
  const owner = openOwner(url, { ...usualWaits, answer: 1200 });
  stage.onEnd(() => owner.end());
  await owner`set statement_timeout = 0`;
  await makeBoth(owner);
  const comparisons: Comparison[] = [];
  for (const [mode, how] of Object.entries(planned)) {
    const database = new URL(url).pathname.slice(1);
    await owner.unsafe(`alter database ${database} set plan_cache_mode = ${mode}`);
    for (const { what, stores, script } of await tasksOf(owner)) {
      process.stdout.write(`${what}, ${how}\n`);
      const arm = (table: 'whole' | 'partitioned') => {
        const load = { creates: picked, repeating };
        const made = pgbenchArm(`${table}, ${what}`, url, script(table), stage.folder, load);
        return stores ? countingRows(made, owner, table) : made;
      };
      const [whole, partitioned] = [arm('whole'), arm('partitioned')];
      const measured = await interleave([whole, partitioned], rounds, seconds);
      comparisons.push({ title: `${what}, ${how}`, arm: partitioned.name, base: whole.name, measured });
    }
  }
  const facts = [
    `${many.toLocaleString('en')} requests of 14 months; pgbench with ${repeating} clients, which looks up`,
    `${picked} requests at a time; ${rounds} rounds of ${seconds} s per arm after one to warm up.`,
  ];
  return { facts, comparisons };
}

export const figure: Figure = {
  what: 'Requests in monthly partitions against requests in one table, with the same rows, columns, checks and indexes. The partitions divide them by their id, which begins with its time (UUIDv7); idempotency keys are unique in a table of their own.',
  limitMinutes: 60,
  measure,
};
