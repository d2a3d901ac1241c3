import type { ApiCall, UncheckedCall } from '../auth/api-route.ts';
import type { Caller, Facts } from '../auth/gate.ts';
import { offeredChainIds } from '../chain/offered.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { Refusal } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { keepNewest } from '../lib/keep-newest.ts';
import { modeOf } from '../lib/mode.ts';
import { createRequest } from './create.ts';
import { type ReadFacts, requestCreateFacts } from './create-facts-store.ts';
import { GroupedCreates } from './grouped-creates.ts';
import { type CreateFacts, planCreate } from './plan-create.ts';
import { isIdempotencyKey } from './rules.ts';
import { assumedRequest, type PlannedRequest, type ShownRequest } from './store.ts';

type Merchant = NonNullable<CreateFacts['merchant']>;
type Remembered = { caller: Caller; merchant: Merchant };

/** What the gate found: the request that its statement stored, or the data for a decision. */
export type GateFacts = ReadFacts | { stored: ShownRequest };

/** How many keys, and how many merchants, are remembered. The oldest are forgotten first, and read again. */
const maxKept = 10_000;

/**
 * The data by which creates were decided in this process. If a create's key and merchant are known, it is decided by
 * this data before anything is read. Its only statement compares all of it with what is stored, and stores the request
 * if nothing has changed. So a change on any node counts at the next call, and most creates query the database once.
 */
export class Assumptions {
  readonly #creates: GroupedCreates;
  readonly #callers = new Map<string, Caller>();
  readonly #merchants = new Map<string, Merchant>();

  constructor(ctx: Context) {
    this.#creates = new GroupedCreates(ctx);
  }

  /** What the gate's statement does for a create: store by assumptions, or read the data for a decision. */
  facts(ctx: Context, sql: Sql, call: UncheckedCall): Facts {
    const columns = requestCreateFacts(sql, call.body);
    const caller = this.#callers.get(call.keyHash);
    const merchant = caller && this.#merchants.get(merchantOf(caller, call));
    const known = caller && merchant && { caller, merchant };
    const request = known && plan(ctx, known, call);
    if (!known || !request) return { columns };
    const assumed = assumedOf(ctx, known, request);
    return { ...assumedRequest(sql, assumed, columns), together: this.#creates.together(assumed) };
  }

  /**
   * Returns what the statement stored, or creates by what it read.
   *
   * @throws Refusal as `createRequest`
   */
  async create(ctx: Context, call: ApiCall<GateFacts>): Promise<{ row: ShownRequest; replayed: boolean }> {
    const { caller, facts, keyHash } = call;
    if ('stored' in facts) return { row: facts.stored, replayed: false };
    this.#callers.delete(keyHash);
    this.#merchants.delete(merchantOf(caller, call));
    const made = await createRequest(ctx, { ...call, facts, ordered: 'now' });
    if (made.replayed || !facts.merchant) return made;
    keepNewest(this.#callers, keyHash, caller, maxKept);
    keepNewest(this.#merchants, merchantOf(caller, call), facts.merchant, maxKept);
    return made;
  }
}

/** The body is not validated yet: nothing is known of a value that is not an id. */
const merchantOf = (
  { scope: { partnerId, testMode } }: Caller,
  { body: { account_id: id } }: Pick<UncheckedCall, 'body'>,
) => `${partnerId} ${testMode} ${isUuid(id) ? id : ''}`;

/**
 * Null if the create would be refused. The data may have changed, so a refusal is decided only after reading it again.
 */
function plan(ctx: Context, { caller, merchant }: Remembered, call: UncheckedCall): PlannedRequest | null {
  const { idempotency_key: key, fiat_currency_code: code } = call.body;
  if (key !== undefined && !isIdempotencyKey(key)) return null;
  // It is not known whether another currency has a rate.
  const known = code === undefined || code === merchant.currency;
  try {
    return planCreate(ctx, caller, { merchant, currency_known: known }, call);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function assumedOf(ctx: Context, { caller, merchant }: Remembered, request: PlannedRequest) {
  return {
    request,
    caller,
    rateAt: merchant.quote?.fetched_at ?? null,
    paidOn: merchant.wallet_chain_ids,
    chainIds: offeredChainIds(ctx.chains[modeOf(caller.scope.testMode)]),
  };
}
