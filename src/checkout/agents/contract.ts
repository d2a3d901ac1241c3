import { Type } from 'typebox';
import type { Hex } from '../../chain/rpc.ts';

/**
 * The version of x402 that is implemented: https://github.com/x402-foundation/x402, `specs/x402-specification-v2.md`.
 */
export const x402Version = 2;

/** One way to pay a request by a signed authorization (EIP-3009), as `accepts` of a 402 response lists it. */
export type Requirements = {
  scheme: 'exact';
  /** CAIP-2. */
  network: `eip155:${number}`;
  /** Micro units. Only exactly this amount is accepted. */
  amount: string;
  asset: Hex;
  payTo: Hex;
  /** How long the authorization may be valid, from now. */
  maxTimeoutSeconds: number;
  /** The token's EIP-712 domain. */
  extra: { name: string; version: string };
};

/** The content of a 402 response, in the header `PAYMENT-REQUIRED` and in its body. */
export type PaymentRequired = {
  x402Version: typeof x402Version;
  /** Why payment is required: a sentence if no payment was sent, an x402 code if one was refused. */
  error: string;
  resource: { url: string; description: string; mimeType: 'application/json' };
  accepts: Requirements[];
};

/** The result of a payment, in the header `PAYMENT-RESPONSE`. */
export type Settlement = {
  success: boolean;
  errorReason?: string;
  payer: Hex;
  /** The transaction hash; empty if nothing was sent. */
  transaction: Hex | '';
  network: string;
  amount: string;
};

// The descriptions are what a refused payment says of the field.
const Address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'must be 0x and 40 hexadecimal digits' });
/** An unsigned integer of up to 256 bits in decimal digits. The rules refuse larger ones. */
const Uint = Type.String({
  pattern: '^(?:0|[1-9][0-9]{0,77})$',
  description: 'must be a whole number in decimal digits, without leading zeros',
});

/** The header `PAYMENT-SIGNATURE`, decoded. Further fields are ignored. */
export const PaymentPayload = Type.Object({
  x402Version: Type.Literal(x402Version),
  resource: Type.Optional(Type.Union([Type.Object({ url: Type.String({ maxLength: 2_000 }) }), Type.Null()])),
  accepted: Type.Object({
    scheme: Type.String({ maxLength: 100 }),
    network: Type.String({ maxLength: 100 }),
    amount: Uint,
    asset: Type.String({ maxLength: 100 }),
    payTo: Type.String({ maxLength: 100 }),
    maxTimeoutSeconds: Type.Number({ exclusiveMinimum: 0 }),
    extra: Type.Optional(
      Type.Union([
        Type.Object({
          name: Type.Optional(Type.String()),
          version: Type.Optional(Type.String()),
          assetTransferMethod: Type.Optional(Type.String()),
        }),
        Type.Null(),
      ]),
    ),
  }),
  payload: Type.Object({
    signature: Type.String(),
    authorization: Type.Object({
      from: Address,
      to: Address,
      value: Uint,
      validAfter: Uint,
      validBefore: Uint,
      nonce: Type.String({ pattern: '^0x[0-9a-fA-F]{64}$', description: 'must be 0x and 64 hexadecimal digits' }),
    }),
  }),
});

export type Payment = Type.Static<typeof PaymentPayload>;
