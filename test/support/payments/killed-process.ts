import { followRelays } from '../../../src/chain/relay/follow.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';
import type { Context } from '../../../src/context.ts';
import { type Access, connect } from '../../../src/db/connection.ts';
import { matchPending } from '../../../src/payments/match.ts';
import { verifyFinal } from '../../../src/payments/proof/verify.ts';
import { chargeDue } from '../../../src/plans/charge.ts';
import { findOvertaken } from '../../../src/plans/collect/overtaken.ts';
import { collectDue } from '../../../src/plans/collect/run.ts';

/** Runs every loop that a charge passes through, once. */
export async function runLoops(ctx: Context): Promise<void> {
  const running = new AbortController().signal;
  const [chain] = ctx.chains.test;
  if (!chain) return;
  await matchPending(ctx);
  await verifyFinal(ctx);
  await followRelays(ctx, chain, findOvertaken);
  await chargeDue(ctx, running);
  await collectDue(ctx, chain, running);
  await followRelays(ctx, chain, findOvertaken);
}

/**
 * Runs the loops like a separate process, with its own connections, which dies before its n-th step. A step is a
 * statement, including a commit, or a call to the chain. From then on nothing that it sends arrives, and its open
 * transactions are rolled back.
 *
 * @param steps null: it does not die
 * @returns whether it died
 */
export async function runUntilKilled(from: Context, access: Access, steps: number | null): Promise<boolean> {
  const db = connect(access, { service: 4, scoped: 4 });
  let taken = 0;
  const step = () => {
    if (steps !== null && ++taken > steps) throw Object.assign(new Error('killed'), { code: '57P01' });
  };
  for (const pool of db.pools) pool.observer = step;
  const [chain] = from.chains.test;
  const mortal = Object.defineProperty({ ...chain } as ChainConfig, 'rpcUrls', {
    get: () => {
      step();
      return chain?.rpcUrls;
    },
  });
  try {
    await runLoops({ ...from, db, chains: { test: [mortal], live: [] } });
  } catch (error) {
    if (steps === null || taken <= steps) throw error;
  } finally {
    await db.close();
  }
  return steps !== null && taken > steps;
}
