import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { pause } from '../../src/lib/time.ts';
import { startOf } from '../../src/plans/rules.ts';
import { type CollectFixtures, collectFixtures } from '../support/payments/collect-fixtures.ts';
import type { NodeWork } from '../support/payments/collect-node.ts';
import { runUntilKilled } from '../support/payments/killed-process.ts';
import {
  chargedOnChain,
  comingYear,
  datesUntil,
  forgetHolds,
  letRequestsLast,
  moveTo,
  nextMoment,
  standingClock,
} from '../support/payments/moved-time.ts';
import { randomFrom } from '../support/random.ts';

const seed = Number(process.env.CRASH_SEED ?? randomInt(2 ** 31));
const firstDay = `${comingYear}-01-31`;
const lastDay = `${comingYear}-03-31`;
/** A process does what is due in about this time. */
const turnMs = 250;

/** Starts a process that runs the loops, and kills it hard after a while. */
async function startAndKill({ access, chain, clock }: CollectFixtures, afterMs: number): Promise<void> {
  const scopeKey = Buffer.from(access.scopeKey).toString('hex');
  const { chainId, name, rpcUrls, tokens, explorerUrl, recurringContract, pollMs } = chain;
  const work: NodeWork = {
    access: { ...access, scopeKey },
    chain: { chainId, name, rpcUrls, tokens, explorerUrl, recurringContract, pollMs },
    now: clock.now().toISOString(),
  };
  const file = join(import.meta.dirname, '../support/payments/collect-node.ts');
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, WORK: JSON.stringify(work) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), ended]);
  await pause(afterMs);
  child.kill('SIGKILL');
  const [code, signal] = await ended;
  assert.equal(signal, 'SIGKILL', `it ended by itself with ${code}`);
}

test('SIGKILL at any moment of two months of charges → each date is charged exactly once', {
  timeout: 600_000,
}, async (t) => {
  t.diagnostic(`CRASH_SEED=${seed}`);
  const random = randomFrom(seed);
  const clock = standingClock(new Date(startOf(firstDay).getTime() - 1000));
  const of = await collectFixtures({ clock });
  const tellClock = await letRequestsLast(of);
  try {
    await moveTo(of, clock.now(), tellClock);
    const plans = [];
    for (const details of [
      { firstOn: firstDay },
      { firstOn: firstDay, period: 'week' },
      { firstOn: `${comingYear}-02-07` },
    ] as const) {
      const plan = await of.plan(details);
      const payer = await of.payer(1_000_000_000n);
      await of.agree(plan, payer);
      plans.push({ plan, payer });
    }
    const settleDown = async () => {
      await of.node.mine(2);
      await of.caughtUp();
      clock.forward(90_000);
      await forgetHolds(of);
    };
    let kills = 0;
    for (let at = await nextMoment(of); at && at < startOf(lastDay); at = await nextMoment(of)) {
      if (at > clock.now()) await moveTo(of, at, tellClock);
      await forgetHolds(of);
      await startAndKill(of, random() * turnMs);
      kills++;
      await settleDown();
      await runUntilKilled(of.ctx, of.access, null);
      await settleDown();
    }
    for (let i = 0; i < 4; i++) {
      await runUntilKilled(of.ctx, of.access, null);
      await settleDown();
    }
    const charged = await chargedOnChain(of);
    let count = 0;
    for (const { plan, payer } of plans) {
      const requests = await of.requests(plan);
      const dates = datesUntil(plan, `${comingYear}-03-30`);
      assert.equal(requests.length, dates.length);
      for (const request of requests) {
        const amounts = charged.get(Buffer.from(request.reference).toString('hex'));
        assert.deepEqual(amounts, [BigInt(request.usdc_micro)]);
        assert.equal(request.proof_status, 'verified');
      }
      const spent = requests.reduce((sum, { usdc_micro }) => sum + BigInt(usdc_micro), 0n);
      assert.equal(await of.balance(payer.address), 1_000_000_000n - spent);
      count += requests.length;
    }
    assert.equal(charged.size, count);
    t.diagnostic(`${count} charges, ${kills} processes killed`);
  } finally {
    await of.stop();
  }
});
