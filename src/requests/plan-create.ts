import type { Caller } from '../auth/gate.ts';
import { offeredChainIds } from '../chain/offered.ts';
import type { Context } from '../context.ts';
import { type FieldFault, refuseFields } from '../errors.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { modeOf } from '../lib/mode.ts';
import { currencyFaults } from '../rates/currency-field.ts';
import { type Quote, usableRate } from '../rates/quote.ts';
import {
  type CreateFields,
  explainAmount,
  judgeCreate,
  type MerchantFacts,
  metadataText,
  quoteMicro,
  requireCustomerName,
} from './rules.ts';
import type { PlannedRequest } from './store.ts';

/** The data about the merchant, its currency and its rate that decides about a create. */
export type CreateFacts = {
  merchant: (NonNullable<MerchantFacts> & { quote: Quote | null }) | null;
  currency_known: boolean;
};

/** A create as it was sent. */
export type CreateCall = {
  /** The id that the request will have. */
  id: string;
  /** The key of its reference, if that is not the newest secret key. */
  referenceKey?: SecretKey | undefined;
  body: Record<string, unknown>;
  keyOrder: Map<string, string[]>;
  faults: FieldFault[];
};

/**
 * Decides what a create stores, except its time and the chains' newest blocks.
 *
 * @throws Refusal invalid_request, customer_name_required, and what `judgeCreate` refuses
 */
export function planCreate(ctx: Context, caller: Caller, facts: CreateFacts, call: CreateCall): PlannedRequest {
  const code = call.body.fiat_currency_code;
  const meant = facts.merchant?.currency ?? (typeof code === 'string' ? code : null);
  const faults = [
    ...explainAmount(call.faults, call.body.fiat_amount_int, meant),
    ...currencyFaults(
      'fiat_currency_code',
      code,
      facts.currency_known,
      'give the amount in the merchant’s currency, and leave this field out',
    ),
  ];
  if (faults.length > 0) throw refuseFields(faults);
  const fields = call.body as CreateFields;
  requireCustomerName(fields);
  const { testMode } = caller.scope;
  const { wallet, currency, expiryMinutes } = judgeCreate(fields, facts.merchant, {
    ...caller,
    testMode,
    chainIds: offeredChainIds(ctx.chains[modeOf(testMode)]),
  });
  const offered = facts.merchant?.quote ?? null;
  const quote = quoteMicro(fields.fiat_amount_int, currency, usableRate(offered, ctx.clock.now()));
  return {
    id: call.id,
    accountId: fields.account_id,
    idempotencyKey: fields.idempotency_key ?? null,
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
    reference: keyedHash(call.referenceKey ?? newest(ctx.config.secretKeys), 'reference', call.id).subarray(0, 16),
    expiryMinutes,
  };
}
