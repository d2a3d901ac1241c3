import { Type } from 'typebox';
import {
  CurrencyCode,
  IdempotentReplay,
  Limit,
  link,
  listFields,
  meant,
  nullable,
  Offset,
  Ok,
  oneOf,
  TestMode,
  Timestamp,
  text,
  Uuid,
} from '../lib/contract.ts';
import { invoiceExpiryMinutes, maxFiatInt, metadataLimits, textLimits } from './rules.ts';

const Status = oneOf(['requested', 'opened', 'expired', 'voided'], 'The state of the link, whether paid or not.');
const ProofStatus = oneOf(
  ['none', 'attached', 'verified'],
  'The state of the payment. Paid means verified, whatever status says.',
);

// Not `Type.Record`: its pattern for keys matches no line break, so the value of such a key would not be checked.
const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: text(metadataLimits.value, 'Your own value.'),
  title: 'Metadata',
  maxProperties: metadataLimits.keys,
  propertyNames: { maxLength: metadataLimits.key },
  description: 'Your own keys and values, returned unchanged here and in the webhook.',
  examples: [{ order: 'A-1042' }],
});

const accountExample = '5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69';

const createExample = {
  account_id: accountExample,
  fiat_amount_int: 1250,
  fiat_currency_code: 'EUR',
  memo: 'Table 4',
  idempotency_key: 'b3JkZXItQS0xMDQyLWF0dGVtcHQtMDAwMDAx',
  metadata: { order: 'A-1042' },
};

const requestExample = {
  ok: true,
  request_id: '9d3f6d2e-8a41-4f1c-a1c5-6f2f0f6f7b10',
  status: 'requested',
  proof_status: 'none',
  pay_page_url: 'https://pay.example.com/9d3f6d2e-8a41-4f1c-a1c5-6f2f0f6f7b10',
  expires_at: '2026-01-31T09:45:00.000Z',
  created_at: '2026-01-31T09:30:00.000Z',
  proof_verified_at: null,
  tx_hash: null,
  amount: { fiat_int: 1250, fiat_code: 'EUR', usdc_micro: '14501161' },
  account_id: accountExample,
  metadata: { order: 'A-1042' },
  test_mode: false,
  memo: 'Table 4',
  payment_mode: 'pos',
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  asset_id: 'eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  fiat_amount: 1250,
  fiat_currency: 'eur',
};

/** `POST /api/v1/requests/create` */
export const CreateRequest = Type.Object(
  {
    account_id: meant(Uuid, 'The merchant who is paid.'),
    fiat_amount_int: Type.Integer({
      minimum: 1,
      maximum: maxFiatInt,
      description: 'Minor units of the merchant’s currency (ISO 4217): cents for EUR, whole yen for JPY.',
      examples: [1250],
    }),
    fiat_currency_code: Type.Optional(
      meant(CurrencyCode, 'The currency that you expect the merchant to have; it selects none.'),
    ),
    memo: Type.Optional(text(textLimits.memo, 'A note shown to the customer on the pay page.', ['Table 4'])),
    idempotency_key: Type.Optional(
      Type.String({
        description: '32 to 64 of the characters A-Z, a-z, 0-9, - and _. The same key returns the same request.',
      }),
    ),
    metadata: Type.Optional(Metadata),
    payment_mode: Type.Optional(
      oneOf(
        ['pos', 'invoice'],
        'pos, the default: the customer pays on the spot. invoice: later, and customer_name is required.',
      ),
    ),
    customer_name: Type.Optional(text(textLimits.customer_name, 'Required when payment_mode is invoice.')),
    customer_email: Type.Optional(
      text(
        textLimits.customer_email,
        'For receipts. Anything but one e-mail address is kept, but no receipt is sent to it.',
      ),
    ),
    customer_phone: Type.Optional(text(textLimits.customer_phone, 'For receipts.')),
    expiry_minutes: Type.Optional(
      Type.Integer({
        description:
          'One of the values allowed for the partner, which expiry_not_allowed lists. If it is left out: the partner’s ' +
          `default, or ${invoiceExpiryMinutes} for an invoice.`,
        examples: [15],
      }),
    ),
  },
  { title: 'NewPaymentRequest', examples: [createExample] },
);

export const RequestObject = Type.Object(
  {
    ok: Ok,
    request_id: Uuid,
    status: Status,
    proof_status: ProofStatus,
    pay_page_url: link('Give this link to the customer.'),
    expires_at: meant(Timestamp, 'When the request expires if it is not paid.'),
    created_at: meant(Timestamp, 'When the request was created, later than all of the partner’s before it.'),
    proof_verified_at: nullable(Timestamp, 'When the payment was verified; null until then.'),
    tx_hash: nullable(
      Type.String(),
      'The transaction that paid or, if there were several, that completed the sum; null until the payment is verified.',
    ),
    amount: Type.Object(
      {
        fiat_int: Type.Integer({ description: 'Minor units of fiat_code, as requested.' }),
        fiat_code: meant(CurrencyCode, 'The merchant’s currency when the request was created.'),
        usdc_micro: Type.String({
          description:
            'What the customer pays: a whole number of millionths of a US dollar stablecoin. It never changes.',
          examples: ['13586957'],
        }),
      },
      { title: 'Amount', description: 'What is asked for. It does not say what has arrived.' },
    ),
    account_id: meant(Uuid, 'The merchant who is paid.'),
    metadata: Metadata,
    test_mode: TestMode,
    memo: nullable(Type.String(), 'Null if none was given, or after the customer’s data was erased.'),
    payment_mode: oneOf(['pos', 'invoice'], 'As given, or pos. The charges of plans are invoices.'),
    customer_name: nullable(Type.String(), 'Null if none was given, or after the customer’s data was erased.'),
    customer_email: nullable(Type.String(), 'Null if none was given, or after the customer’s data was erased.'),
    customer_phone: nullable(Type.String(), 'Null if none was given, or after the customer’s data was erased.'),
    asset_id: Type.String({
      description: 'CAIP-19: the asset paid with or, before payment, the first one offered.',
      examples: ['eip155:8453/erc20:0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'],
    }),
    fiat_amount: Type.Integer({ description: 'Same as amount.fiat_int, for clients that use the quickstart shape.' }),
    fiat_currency: Type.String({ description: 'Same as amount.fiat_code, in lower case.' }),
    idempotent_replay: IdempotentReplay,
  },
  { title: 'PaymentRequest', examples: [requestExample] },
);

const instantForms =
  'this RFC 3339 time with Z or an offset (2026-01-31T09:30:00Z) or this day (2026-01-31, from midnight UTC).';

export const RequestQuery = Type.Object({
  status: Type.Optional(Status),
  proof_status: Type.Optional(ProofStatus),
  account_id: Type.Optional(meant(Uuid, 'Only requests of this merchant.')),
  since: Type.Optional(Type.String({ description: `Only requests with created_at at or after ${instantForms}` })),
  until: Type.Optional(Type.String({ description: `Only requests with created_at before ${instantForms}` })),
  limit: Type.Optional(Limit),
  offset: Type.Optional(Offset),
});

export const RequestList = Type.Object(
  {
    ok: Ok,
    requests: Type.Array(RequestObject, { description: 'Sorted by created_at, oldest first.' }),
    ...listFields,
  },
  {
    title: 'PaymentRequestList',
    examples: [{ ok: true, requests: [requestExample], has_more: false, limit: 50, offset: 0 }],
  },
);
