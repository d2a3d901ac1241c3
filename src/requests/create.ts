import type { Caller } from '../auth/gate.ts';
import { offeredChainIds } from '../chain/offered.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { modeOf } from '../lib/mode.ts';
import type { ReadFacts } from './create-facts-store.ts';
import { type CreateCall, planCreate } from './plan-create.ts';
import { replayRequest } from './replay.ts';
import { isIdempotencyKey } from './rules.ts';
import { insertRequest, type KnownHead, type Ordered, type RequestRow } from './store.ts';

/**
 * Creates a request, or returns the one that an earlier call with the same key created, in its current state.
 *
 * @throws Refusal invalid_idempotency_key, and what `planCreate` refuses
 */
export async function createRequest(
  ctx: Context,
  call: CreateCall & { caller: Caller; facts: ReadFacts; ordered: Ordered },
): Promise<{ row: RequestRow; replayed: boolean }> {
  const { caller, facts } = call;
  const key = call.body.idempotency_key;
  if (key !== undefined && !isIdempotencyKey(key)) throw refuse('invalid_idempotency_key');
  if (facts.replay_id) {
    return { row: await replayRequest(ctx, caller.scope, facts.replay_id, call.body), replayed: true };
  }
  const request = {
    ...planCreate(ctx, caller, facts, call),
    ...startOf(ctx, caller.scope.testMode, facts.heads),
  };
  const made = await insertRequest(ctx.db.sql, caller.scope, request, call.ordered);
  if (!made) throw refuse('merchant_onboarding_incomplete');
  if (!made.replayed) return made;
  return { row: await replayRequest(ctx, caller.scope, made.row.id, call.body), replayed: true };
}

/** The newest block of each chain that is offered, if a recent one is known. */
function startOf(ctx: Context, testMode: boolean, heads: Record<string, KnownHead> | null) {
  const ids = offeredChainIds(ctx.chains[modeOf(testMode)]).map(String);
  const known = Object.entries(heads ?? {}).filter(([chainId]) => ids.includes(chainId));
  return {
    startBlocks: Object.fromEntries(known.map(([chainId, { number }]) => [chainId, number])),
    startHeads: Object.fromEntries(known.map(([chainId, { hash, time }]) => [chainId, { hash, time }])),
  };
}
