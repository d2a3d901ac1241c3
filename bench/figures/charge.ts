import { callRpc, toHex } from '../../src/chain/rpc.ts';
import type { Context } from '../../src/context.ts';
import { runJobs } from '../../src/jobs.ts';
import { pause } from '../../src/lib/time.ts';
import { startDevChain } from '../../test/support/chain/dev-chain.ts';
import { chargeShape, makeChargeFixtures } from '../charge-fixtures.ts';
import { startCountingProxy } from '../counting-proxy.ts';
import type { Figure, Finding } from '../figure.ts';
import { type Stage, stageService } from '../stage.ts';

const blockSeconds = 1;
const limitMs = 240_000;

type Progress = { requests: number; sent: number; mined: number; verified: number };

async function readProgress({ db }: Context): Promise<Progress> {
  const [row] = await db.sql<Progress[]>`
    select (select count(*)::int from collections) as requests,
      (select count(*)::int from collections where relay_id is not null) as sent,
      (select count(*)::int from transfers) as mined,
      (select count(*)::int from requests where proof_status = 'verified') as verified`;
  return row as Progress;
}

async function measure(stage: Stage): Promise<Finding> {
  const service = await stageService(stage, { RELAYER_KEYS: `0x${'52'.repeat(32)}` });
  const node = await startDevChain(31337, stage.folder);
  stage.onEnd(node.stop);
  const proxy = await startCountingProxy(node.url);
  stage.onEnd(proxy.close);
  const chain = { ...node.chain, rpcUrls: [proxy.url], pollMs: 250 };
  const ctx = { ...service.ctx, chains: { test: [chain], live: [] } };
  const midnight = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  process.stdout.write('Plans, wallets and mandates …\n');
  await makeChargeFixtures(ctx, node.url, node.chain, midnight);
  const relayer = ctx.config.relayer.signers[0]?.address;
  await callRpc(node.url, 'anvil_setBalance', [relayer, toHex(1000n * 10n ** 18n)]);
  await callRpc(node.url, 'evm_setIntervalMining', [blockSeconds]);
  await ctx.db.sql`vacuum analyze`;
  const plans = await ctx.db.sql`update plans set due_at = null, state = 'paused' returning id`;

  // The loops run without work until the plans become due.
  const stop = new AbortController();
  const jobs = runJobs(ctx, stop.signal, { pools: service.pools });
  stage.onEnd(() => {
    stop.abort();
    return jobs;
  });
  await pause(5000);
  proxy.calls.clear();
  proxy.messages.count = 0;
  const began = performance.now();
  const cpuBefore = process.cpuUsage();
  const seconds = () => (performance.now() - began) / 1000;
  await ctx.db.sql`update plans set due_at = ${midnight}, state = 'active'`;
  const reached: Partial<Record<keyof Progress, number>> = {};
  while (seconds() * 1000 < limitMs) {
    const progress = await readProgress(ctx);
    for (const name of ['requests', 'sent', 'mined', 'verified'] as const) {
      if (progress[name] >= plans.length) reached[name] ??= seconds();
    }
    process.stdout.write(`  ${seconds().toFixed(0)} s: ${JSON.stringify(progress)}\n`);
    if (reached.verified !== undefined) break;
    await pause(1000);
  }
  const cpu = process.cpuUsage(cpuBefore);
  if (reached.verified === undefined) throw new Error('not all charges were verified in time');
  const { plans: many, partners } = chargeShape;
  const all = [...proxy.calls.values()].reduce((sum, count) => sum + count, 0);
  const after = (name: keyof Progress) => [
    `${(reached[name] ?? 0).toFixed(1)} s`,
    (many / (reached[name] ?? 0)).toFixed(1),
  ];
  return {
    facts: [
      `${many} plans of ${partners} partners; a block every ${blockSeconds} s.`,
      `${((((cpu.user + cpu.system) / 1e6) * 1000) / many).toFixed(1)} ms of the process and`,
      `${(all / many).toFixed(2)} calls of the provider per charge, in ${(proxy.messages.count / many).toFixed(2)} messages.`,
    ],
    table: {
      head: ['step', 'all done after', 'per second'],
      rows: [
        ['request and collection created', ...after('requests')],
        ['simulated, stored with a nonce', ...after('sent')],
        ['sent, mined and read', ...after('mined')],
        ['verified, event written', ...after('verified')],
      ],
    },
  };
}

export const figure: Figure = {
  what:
    'A thousand automatic plans that are due at one moment. One process runs all loops of the service; anvil and the ' +
    'database run on the same cores.',
  limitMinutes: 6,
  measure,
};
