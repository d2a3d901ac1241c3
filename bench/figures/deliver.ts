import { openOwner } from '../../src/db/connection.ts';
import { maxPosts } from '../../src/webhooks/rules.ts';
import { startChild } from '../child.ts';
import * as deliveries from '../deliveries.ts';
import type { Figure, Finding } from '../figure.ts';
import { makeEndpoints, makeFixtures, shape } from '../fixtures.ts';
import { bossArms } from '../pg-boss.ts';
import { interleave, ratio, rounds } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';

const seconds = 3;

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, pools, env } = await stageService(stage);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const receiver = await startChild('receiver.ts', {});
  stage.onEnd(receiver.stop);
  await makeEndpoints(ctx.db.sql, ctx.config.secretKeys, receiver.origin);
  const prepared = await deliveries.prepareDeliveries(ctx.db.sql, seconds * deliveries.maxPerSecond);
  const owner = openOwner(env.DATABASE_URL as string);
  stage.onEnd(() => owner.end());
  await deliveries.keepDeliveries(owner);
  await owner`vacuum analyze`;
  const { whole, each, stop } = await bossArms(env.DATABASE_URL as string, receiver.origin, prepared);
  stage.onEnd(stop);
  const arms = [
    deliveries.loopArm({ ...ctx, db: pools.deliveries }, owner),
    deliveries.bareArm(ctx, receiver.origin, prepared),
    whole,
    each,
  ];
  const measured = await interleave(arms, rounds, seconds);
  const { loop: arm, bare } = deliveries.names;
  const lowest = (peer: string) => ratio(measured, arm, peer).min.toFixed(2);
  return {
    facts: [
      `${rounds} rounds of ${seconds} s per arm after one to warm up; ${shape.receivers} endpoints at one receiver.`,
      `pg-boss took ${whole.batch()} jobs at a time, with a result for each ${each.batch()}: its best of the sizes tried.`,
      `So it had up to ${whole.atOnce()} and ${each.atOnce()} POSTs under way at once; the loop has at most ${maxPosts}.`,
      `In its worst round the loop made ${lowest(whole.name)} times as many deliveries as pg-boss with whole batches,`,
      `and ${lowest(each.name)} times as many as with a result for each job.`,
    ],
    comparisons: [
      { title: `${arm} / ${bare}`, arm, base: bare, measured, target: 0.65 },
      { title: `${arm} / ${whole.name}`, arm, base: whole.name, measured, target: 1 },
      { title: `${arm} / ${each.name}`, arm, base: each.name, measured, target: 1 },
    ],
  };
}

export const figure: Figure = {
  what:
    'The delivery loop (claim under lease, two signatures, guarded POST, attempt and result on the disk) against POSTs ' +
    'of the same bodies with one HMAC each, as many at once, from the same process to the same receiver; and against ' +
    'pg-boss, whose two workers fetch a batch each and send it with the same two signatures and headers, in two ways. ' +
    'With whole batches, they complete all jobs in one call and store nothing about an attempt: no row of its own and ' +
    'no answer. With a result for each job, every job is completed with what we store of an attempt (its headers, its ' +
    'answer, its time), on its own row; there is no row for each attempt.',
  limitMinutes: 12,
  measure,
};
