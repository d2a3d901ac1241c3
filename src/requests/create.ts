import type { Caller, Facts } from '../auth/gate.ts';
import type { Context } from '../context.ts';
import type { Sql } from '../db/connection.ts';
import { type FieldFault, refuse } from '../errors.ts';
import { keyedHash, newest } from '../lib/encrypt.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { merchantFacts } from '../merchants/read.ts';
import { currencyFaults, currencyKnown } from '../rates/currency-field.ts';
import { type Quote, usableRate } from '../rates/quote.ts';
import { replayRequest } from './replay.ts';
import {
  type CreateFields,
  isIdempotencyKey,
  judgeCreate,
  type MerchantFacts,
  metadataText,
  quoteMicro,
  requireCustomerName,
} from './rules.ts';
import { createFacts, insertRequest, type KnownHead, type Ordered, type RequestRow } from './store.ts';

export type CreateFacts = {
  merchant: (NonNullable<MerchantFacts> & { quote: Quote | null }) | null;
  replay_id: string | null;
  heads: Record<string, KnownHead> | null;
  currency_known: boolean;
};

/** What the gate's statement reads for a create, whose body is not validated yet. */
export function requestCreateFacts(sql: Sql, body: Record<string, unknown>): Facts {
  const accountId = isUuid(body.account_id) ? body.account_id : null;
  const key = isIdempotencyKey(body.idempotency_key) ? body.idempotency_key : null;
  return sql`
    ${merchantFacts(sql, accountId)}, ${createFacts(sql, accountId, key)},
    ${currencyKnown(sql, body.fiat_currency_code)}`;
}

export type CreateCall = {
  /** What the request will be known by. */
  id: string;
  caller: Caller;
  facts: CreateFacts;
  body: Record<string, unknown>;
  keyOrder: Map<string, string[]>;
  faults: FieldFault[];
  ordered: Ordered;
};

/**
 * Creates a request, or returns the one that an earlier call with the same key created, in its current state.
 *
 * @throws Refusal invalid_idempotency_key, invalid_request, customer_name_required, and what `judgeCreate` refuses
 */
export async function createRequest(ctx: Context, call: CreateCall): Promise<{ row: RequestRow; replayed: boolean }> {
  const { id, caller, facts } = call;
  const key = call.body.idempotency_key;
  if (key !== undefined && !isIdempotencyKey(key)) throw refuse('invalid_idempotency_key');
  if (facts.replay_id) {
    return { row: await replayRequest(ctx, caller.scope, facts.replay_id, call.body), replayed: true };
  }

  const code = call.body.fiat_currency_code;
  const faults = [...call.faults, ...currencyFaults('fiat_currency_code', code, facts.currency_known)];
  if (faults.length > 0) throw refuse('invalid_request', { details: faults });
  const fields = call.body as CreateFields;
  requireCustomerName(fields);
  const { testMode } = caller.scope;
  const { wallet, currency, expiryMinutes } = judgeCreate(fields, facts.merchant, {
    ...caller,
    testMode,
    chainIds: ctx.chains[modeOf(testMode)].map(({ chainId }) => chainId),
  });
  const offered = facts.merchant?.quote ?? null;
  const quote = quoteMicro(fields.fiat_amount_int, currency, usableRate(offered, ctx.clock.now()));

  const request = {
    id,
    accountId: fields.account_id,
    idempotencyKey: key ?? null,
    fiatInt: fields.fiat_amount_int,
    fiatCode: currency,
    exactMicro: quote.micro,
    rate: quote.rate,
    rateSource: offered?.source ?? null,
    memo: fields.memo ?? null,
    paymentMode: fields.payment_mode ?? 'pos',
    customerName: fields.customer_name ?? null,
    customerEmail: fields.customer_email ?? null,
    customerPhone: fields.customer_phone ?? null,
    metadata: metadataText(fields.metadata, call.keyOrder.get('metadata')),
    walletAddress: wallet,
    reference: keyedHash(newest(ctx.config.secretKeys), 'reference', id).subarray(0, 16),
    ...startOf(ctx, testMode, facts.heads),
    expiryMinutes,
  };
  const made = await insertRequest(ctx.db.sql, caller.scope, request, call.ordered);
  if (!made) throw refuse('merchant_onboarding_incomplete');
  if (!made.replayed) return made;
  return { row: await replayRequest(ctx, caller.scope, made.row.id, call.body), replayed: true };
}

/** The newest block of each chain of the mode, where a recent one is known. */
function startOf(ctx: Context, testMode: boolean, heads: Record<string, KnownHead> | null) {
  const ids = ctx.chains[modeOf(testMode)].map((chain) => String(chain.chainId));
  const known = Object.entries(heads ?? {}).filter(([chainId]) => ids.includes(chainId));
  return {
    startBlocks: Object.fromEntries(known.map(([chainId, { number }]) => [chainId, number])),
    startHeads: Object.fromEntries(known.map(([chainId, { hash, time }]) => [chainId, { hash, time }])),
  };
}
