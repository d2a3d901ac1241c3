import { openOwner } from '../../src/db/connection.ts';
import { startChild } from '../child.ts';
import * as deliveries from '../deliveries.ts';
import type { Figure, Finding } from '../figure.ts';
import { makeEndpoints, makeFixtures, shape } from '../fixtures.ts';
import { interleave, ratio, rounds } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';

const seconds = 3;

async function measure(stage: Stage): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const receiver = await startChild('receiver.ts', {});
  stage.onEnd(receiver.stop);
  await makeEndpoints(ctx.db.sql, ctx.config.secretKeys, receiver.origin);
  const prepared = await deliveries.prepareDeliveries(ctx.db.sql);
  const owner = openOwner(env.DATABASE_URL as string);
  stage.onEnd(() => owner.end());
  await deliveries.keepDeliveries(owner);
  await owner`vacuum analyze`;
  const boss = await deliveries.bossArm(ctx, env.DATABASE_URL as string, receiver.origin, prepared);
  stage.onEnd(boss.stop);
  const arms = [deliveries.loopArm(ctx, owner), deliveries.bareArm(ctx, receiver.origin, prepared), boss];
  const measured = await interleave(arms, rounds, seconds);
  const { loop: arm, bare, boss: peer } = deliveries.names;
  const lowest = ratio(measured, arm, peer).min;
  return {
    facts: [
      `${rounds} rounds of ${seconds} s per arm after one to warm up; ${shape.receivers} endpoints at one receiver.`,
      `pg-boss took ${boss.batch()} jobs at a time, its best of the sizes that were tried.`,
      `In its worst round the loop made ${lowest.toFixed(2)} times as many deliveries as pg-boss.`,
    ],
    comparisons: [
      { title: `${arm} / ${bare}`, arm, base: bare, measured, target: 0.65 },
      { title: `${arm} / ${peer}`, arm, base: peer, measured, target: 1 },
    ],
  };
}

export const figure: Figure = {
  what:
    'The delivery loop (claim under lease, two signatures, guarded POST, attempt and result on the disk) against POSTs ' +
    'of the same bodies with one HMAC each, as many at once, from the same process to the same receiver; and against ' +
    'pg-boss, whose two workers fetch a batch each, send it with the same two signatures and headers, and complete it ' +
    'as a whole: unlike ours, they store nothing about an attempt, no row of its own and no answer.',
  limitMinutes: 8,
  measure,
};
