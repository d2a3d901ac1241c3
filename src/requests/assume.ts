import type { ApiCall, UncheckedCall } from '../auth/api-route.ts';
import type { Caller, Facts } from '../auth/gate.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { Refusal } from '../errors.ts';
import { modeOf } from '../lib/mode.ts';
import { createRequest, type ReadFacts, requestCreateFacts } from './create.ts';
import { type CreateFacts, planCreate } from './plan-create.ts';
import { isIdempotencyKey } from './rules.ts';
import { assumedRequest, type PlannedRequest, type RequestRow } from './store.ts';

type Known = { caller: Caller; facts: CreateFacts };

/** The gate's row: what was read, or what the statement made, with `read` where it made nothing. */
export type GateFacts = ReadFacts | (RequestRow & { read: null }) | { read: ReadFacts };

/** Of so many merchants and keys it is remembered. What is forgotten, the oldest first, is read again. */
const mostKept = 10_000;

/**
 * What creates were decided by, in this process. The next create of the same key for the same merchant is decided by it
 * before anything is read; its only statement compares all of it with what is stored, and stores the request if nothing
 * has changed. So a change on any node counts at the next call, and most creates ask the database once.
 */
export class Assumptions {
  readonly #known = new Map<string, Known>();

  /** What the gate's statement does for a create: store what can be assumed, or read what decides. */
  facts(ctx: Context, sql: Sql, call: UncheckedCall): Facts {
    const columns = requestCreateFacts(sql, call.body);
    const known = this.#known.get(keyOf(call));
    const request = known && plan(ctx, known, call);
    return known && request ? assumedRequest(sql, assumedOf(ctx, known, request), columns) : { columns };
  }

  /**
   * Takes what the statement stored, or creates by what it read.
   *
   * @throws Refusal as `createRequest`
   */
  async create(ctx: Context, call: ApiCall<GateFacts>): Promise<{ row: RequestRow; replayed: boolean }> {
    const { caller, facts } = call;
    if ('read' in facts && facts.read === null) return { row: facts, replayed: false };
    const read = 'read' in facts ? facts.read : facts;
    this.#known.delete(keyOf(call));
    const made = await createRequest(ctx, { ...call, facts: read, ordered: 'now' });
    const { merchant, currency_known } = read;
    if (!made.replayed) this.#remember(keyOf(call), { caller, facts: { merchant, currency_known } });
    return made;
  }

  #remember(key: string, known: Known): void {
    this.#known.set(key, known);
    if (this.#known.size > mostKept) for (const oldest of this.#known.keys()) return void this.#known.delete(oldest);
  }
}

const keyOf = ({ keyHash, body }: UncheckedCall) => `${keyHash} ${body.account_id}`;

/** Null when it would be refused: what is known may have changed, so that is decided after reading anew. */
function plan(ctx: Context, { caller, facts }: Known, call: UncheckedCall): PlannedRequest | null {
  const { idempotency_key: key, fiat_currency_code: code } = call.body;
  if (key !== undefined && !isIdempotencyKey(key)) return null;
  // Of another currency it is not known whether it has a rate.
  const known = code === undefined || code === facts.merchant?.currency;
  try {
    return planCreate(ctx, caller, { ...facts, currency_known: known }, call);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function assumedOf(ctx: Context, { caller, facts }: Known, request: PlannedRequest) {
  const { merchant } = facts;
  return {
    request,
    caller,
    rateAt: merchant?.quote?.fetched_at ?? null,
    paidOn: merchant?.wallet_chain_ids ?? null,
    chainIds: ctx.chains[modeOf(caller.scope.testMode)].map(({ chainId }) => chainId),
  };
}
