import { isUuid } from '../../src/lib/ids.ts';
import { openExplainer, pagesRead, type Sent, sentDuring } from '../../test/support/query-plans.ts';
import type { Figure, Finding } from '../figure.ts';
import { idOf, prefixOf } from '../fixtures.ts';
import { analyze, openReadStage, type ReadStage } from '../read-stage.ts';
import { at, timesOf } from '../reads.ts';
import { makeMerchants, makeRequests } from '../requests.ts';
import { rounds, shuffled } from '../rounds.ts';
import type { Stage } from '../stage.ts';
import { createBody } from '../statements.ts';

const sizes = { requests: [10_000, Number(process.env.BENCH_REQUESTS || 1_000_000)], merchants: [2_500, 100_000] };
const calls = 20;
const target = 1.3;

type Call = { name: string; run(): Promise<unknown> };
type Found = { p50: number; pages: number };

/** Calls of the API whose cost should not depend on the number of rows, and the portal's search. */
function callsOf({ create, get, search }: ReadStage, requestId: string): Call[] {
  const body = (key: string) => createBody(0, 1250, key);
  const since = () => new Date(Date.now() - 60_000).toISOString();
  return [
    { name: 'create', run: () => create(body(crypto.randomUUID())) },
    { name: 'create, replayed', run: () => create(body('growth-'.padEnd(32, '0'))) },
    { name: 'get', run: () => get(`/api/v1/requests/${requestId}`) },
    { name: 'list since a minute ago', run: () => get(`/api/v1/requests?since=${since()}`) },
    {
      name: 'list of one merchant since a minute ago',
      run: () => get(`/api/v1/requests?account_id=${idOf('b', 0)}&since=${since()}`),
    },
    { name: 'search by hash', run: () => search(`0x${'0'.repeat(64)}`) },
    { name: 'search by id', run: () => search(requestId) },
  ];
}

/** Changes a statement as another call would send it: a create that runs twice would find the first one's row. */
const afresh = (sent: Sent): Sent =>
  sent.text.includes('create_')
    ? {
        ...sent,
        parameters: sent.parameters.map((value) =>
          isUuid(value) && !isOfFixtures(value) ? crypto.randomUUID() : value,
        ),
      }
    : sent;
const isOfFixtures = (id: string) => (['a', 'b'] as const).some((letter) => id.startsWith(prefixOf(letter)));

async function measureAt(on: ReadStage, ownerUrl: string): Promise<Map<string, Found>> {
  await analyze(on.ownerUrl);
  const [row] = await on.ctx.db
    .sql`select id from requests where partner_id = ${on.scope.partnerId} order by created_at limit 1`;
  const all = callsOf(on, String(row?.id));
  const times = new Map<string, number[]>(all.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const { name, run } of shuffled(all)) {
      const took = await timesOf(run, calls);
      if (round > 0) times.get(name)?.push(...took);
    }
  }
  const explainer = openExplainer(ownerUrl);
  const found = new Map<string, Found>();
  for (const { name, run } of all) {
    const sent = await sentDuring(on.ctx.db, run);
    await explainer.explain(sent.map(afresh), 'force_generic_plan'); // fills the connection's caches
    const plans = await explainer.explain(sent.map(afresh), 'force_generic_plan');
    found.set(name, {
      p50: at(times.get(name) ?? [], 0.5),
      pages: plans.reduce((sum, plan) => sum + pagesRead(plan), 0),
    });
  }
  await explainer.end();
  return found;
}

async function measure(stage: Stage): Promise<Finding> {
  const [few = 0, many = 0] = sizes.requests;
  const on = await openReadStage(stage, few);
  const { sql } = on.ctx.db;
  const steps: [string, () => Promise<unknown>][] = [
    [`${few.toLocaleString('en')} requests`, async () => {}],
    [`${many.toLocaleString('en')} requests`, () => makeRequests(sql, many, few)],
    [
      `and ${sizes.merchants[1]?.toLocaleString('en')} merchants`,
      () => makeMerchants(sql, sizes.merchants[1] as number),
    ],
  ];
  const found: Map<string, Found>[] = [];
  for (const [name, grow] of steps) {
    await grow();
    process.stdout.write(`  ${name} …\n`);
    found.push(await measureAt(on, on.ownerUrl));
  }
  const [first] = found as [Map<string, Found>];
  return {
    facts: [
      `${rounds * calls} calls of each kind at each size, one at a time, over HTTP (a search: as the portal reads it), by a`,
      `partner that has half of all. Buffers: the pages of 8 kB that the statements of a call read, with generic plans.`,
    ],
    table: {
      head: ['call', ...steps.map(([name]) => `${name}: p50, buffers`), 'p50, largest / smallest', 'target'],
      rows: [...first].map(([name, { p50 }]) => {
        const cells = found.map((step) => step.get(name) as Found);
        const worst = Math.max(...cells.map((cell) => cell.p50)) / p50;
        const said = cells.map((cell) => `${cell.p50.toFixed(2)} ms, ${cell.pages}`);
        return [name, ...said, `**${worst.toFixed(2)}**`, `${target} ${worst <= target ? '✓' : '✗'}`];
      }),
    },
  };
}

export const figure: Figure = {
  what: 'What calls cost as the tables grow.',
  limitMinutes: 40,
  measure,
};
