import type { Caller } from '../auth/gate.ts';
import { offeredChainIds } from '../chain/offered.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { merchantFacts } from '../merchants/read.ts';
import { currencyKnown } from '../rates/currency-field.ts';
import { type CreateCall, type CreateFacts, planCreate } from './plan-create.ts';
import { replayRequest } from './replay.ts';
import { isIdempotencyKey } from './rules.ts';
import { insertRequest, type KnownHead, type Ordered, type RequestRow, startFacts } from './store.ts';

/** What the gate's statement reads for a create: what decides, an earlier request with the key, the newest blocks. */
export type ReadFacts = CreateFacts & { replay_id: string | null; heads: Record<string, KnownHead> | null };

/** The columns of `ReadFacts` for the gate's statement. The body is not validated yet. */
export function requestCreateFacts(sql: Sql, body: Record<string, unknown>): Fragment {
  const accountId = isUuid(body.account_id) ? body.account_id : null;
  const key = isIdempotencyKey(body.idempotency_key) ? body.idempotency_key : null;
  return sql`
    ${merchantFacts(sql, accountId)}, ${startFacts(sql, accountId, key)},
    ${currencyKnown(sql, body.fiat_currency_code)}`;
}

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
