import { startChild } from '../child.ts';
import * as deliveries from '../deliveries.ts';
import type { Figure, Finding } from '../figure.ts';
import { makeEndpoints, makeFixtures, shape } from '../fixtures.ts';
import { interleave, rounds } from '../rounds.ts';
import { type Stage, stageService } from '../stage.ts';

const seconds = 3;

async function measure(stage: Stage): Promise<Finding> {
  const { ctx } = await stageService(stage);
  await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const receiver = await startChild('receiver.ts', {});
  stage.onEnd(receiver.stop);
  await makeEndpoints(ctx.db.sql, ctx.config.secretKeys, receiver.origin);
  const prepared = await deliveries.prepareDeliveries(ctx.db.sql);
  await ctx.db.sql`vacuum analyze`;
  const arms = [deliveries.loopArm(ctx), deliveries.bareArm(ctx, receiver.origin, prepared)];
  const measured = await interleave(arms, rounds, seconds);
  const { loop: arm, bare: base } = deliveries.names;
  return {
    facts: [
      `${rounds} rounds of ${seconds} s per arm after one to warm up; ${shape.receivers} endpoints at one receiver.`,
    ],
    comparisons: [{ title: `${arm} / ${base}`, arm, base, measured, target: 0.65 }],
  };
}

export const figure: Figure = {
  what:
    'The delivery loop (claim under lease, two signatures, guarded POST, attempt and result on the disk) against POSTs ' +
    'of the same bodies with one HMAC each, as many at once, from the same process to the same receiver.',
  limitMinutes: 4,
  measure,
};
