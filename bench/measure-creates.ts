import { openOwner, usualWaits } from '../src/db/connection.ts';
import { accessOf } from '../src/db/logins.ts';
import { startChild } from './child.ts';
import { clients, httpArm, names, pgbenchArm } from './creates.ts';
import type { Comparison, Finding } from './figure.ts';
import { makeFixtures, shape } from './fixtures.ts';
import { interleave, rounds } from './rounds.ts';
import { type Stage, stageService } from './stage.ts';
import { makeBareTable, readStatements } from './statements.ts';

const seconds = 4;

type ArmName = keyof typeof names;
/** Which arm is compared with which. */
export type Pair = { arm: ArmName; base: ArmName; target: number };

/** Measures arms of creates in turn, and compares them in pairs. */
export async function measureCreates(stage: Stage, pairs: Pair[]): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  const databaseUrl = env.DATABASE_URL as string;
  const fixtures = await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const { statements, script, bareScript } = await readStatements(ctx, fixtures.keys[0] as string);
  const access = accessOf(databaseUrl, ctx.config.secretKeys).service;
  const owner = openOwner(databaseUrl, usualWaits);
  await makeBareTable(owner, new URL(access).username);
  await owner`vacuum analyze`;
  await owner.end();

  const server = await startChild('server.ts', env);
  stage.onEnd(server.stop);
  const http = httpArm(server, fixtures.keys, stage.folder);
  const arms = {
    http,
    sql: pgbenchArm(names.sql, access, script, stage.folder),
    yardstick: pgbenchArm(names.yardstick, access, bareScript, stage.folder),
  };
  const wanted = [...new Set(pairs.flatMap(({ arm, base }) => [arm, base]))].map((name) => arms[name]);
  const measured = await interleave(wanted, rounds, seconds);
  const [version] = await ctx.db.sql<{ server_version: string }[]>`show server_version`;
  const comparisons = pairs.map(
    ({ arm, base, target }): Comparison => ({
      title: `${names[arm]} / ${names[base]}`,
      arm: names[arm],
      base: names[base],
      measured,
      target,
    }),
  );
  const facts = [
    `PostgreSQL ${version?.server_version}; ${rounds} rounds of ${seconds} s per arm after one to warm up;`,
    `${clients} clients with kept connections; ${shape.keys} keys of ${shape.partners} partners with ${shape.merchants} merchants.`,
  ];
  return { facts, comparisons, appendix: { title: 'The statements of a create, as sent:', code: statements } };
}
