import { openOwner, usualWaits } from '../src/db/connection.ts';
import { accessOf } from '../src/db/logins.ts';
import { groupsAtOnce } from '../src/requests/grouped-creates.ts';
import { maxGroupSize } from '../src/requests/grouped-creates-store.ts';
import { startChild } from './child.ts';
import { clients, countingRows, httpArm, manyClients, names, pgbenchArm } from './creates.ts';
import type { Comparison, Finding } from './figure.ts';
import { makeFixtures, shape } from './fixtures.ts';
import { type Arm, interleave, rounds } from './rounds.ts';
import { type Stage, stageService } from './stage.ts';
import { makeBareTable, readStatements, type Scripted } from './statements.ts';

const seconds = 4;

type ArmName = keyof typeof names;
/** Two arms to compare. */
export type Pair = { arm: ArmName; base: ArmName; target: number };

/**
 * Measures arms of creates in turn, and compares them in pairs.
 *
 * @param shows whether to include the statements, which are the same for all figures of creates
 */
export async function measureCreates(stage: Stage, pairs: Pair[], { shows = false } = {}): Promise<Finding> {
  const { ctx, env } = await stageService(stage);
  const databaseUrl = env.DATABASE_URL as string;
  const fixtures = await makeFixtures(ctx.db.sql, ctx.config.secretKeys);
  const { alone, together, bareScript } = await readStatements(ctx, fixtures.keys);
  const access = accessOf(databaseUrl, ctx.config.secretKeys).service;
  const owner = openOwner(databaseUrl, usualWaits);
  await makeBareTable(owner, new URL(access).username);
  await owner`vacuum analyze`;
  stage.onEnd(() => owner.end());

  const server = await startChild('server.ts', env);
  stage.onEnd(server.stop);
  const ofSql = (name: 'alone' | 'together', { script }: Scripted, load?: { creates: number; repeating: number }) =>
    countingRows(pgbenchArm(names[name], access, script, stage.folder, load), owner, 'requests');
  const ofHttp = (name: 'http' | 'httpOfMany', connections: number) =>
    countingRows(httpArm(names[name], server, fixtures.keys, stage.folder, connections), owner, 'requests');
  const ofBare = (name: 'yardstick' | 'yardstickOfMany', repeating: number) =>
    countingRows(pgbenchArm(names[name], access, bareScript, stage.folder, { repeating }), owner, 'bare_requests');
  const arms = {
    http: ofHttp('http', clients),
    httpOfMany: ofHttp('httpOfMany', manyClients),
    alone: ofSql('alone', alone),
    together: ofSql('together', together, { creates: maxGroupSize, repeating: groupsAtOnce }),
    yardstick: ofBare('yardstick', clients),
    yardstickOfMany: ofBare('yardstickOfMany', manyClients),
  };
  const wanted = [...new Set(pairs.flatMap(({ arm, base }) => [arm, base]))].map((name) => arms[name]);
  if (wanted.includes(arms.http) || wanted.includes(arms.httpOfMany)) await rememberAll(arms.http);
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
    `${clients} clients with kept connections, where nothing else is said; ${shape.keys} keys of ${shape.partners} partners with ${shape.merchants} merchants.`,
  ];
  if (!shows) return { facts, comparisons };
  const code = [alone.statement, together.statement];
  return { facts, comparisons, appendix: { title: 'The statements, as sent, of one create and of sixteen:', code } };
}

/** Makes a create with each key, because the server decides by what it remembers from a key's earlier create. */
async function rememberAll(http: Arm): Promise<void> {
  for (let made = 0; made < shape.keys + shape.merchants; ) made += (await http.run(seconds)) * seconds;
}
