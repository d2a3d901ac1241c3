import { Type } from 'typebox';

/** Shapes that several contracts share. */

export const Uuid = Type.String({
  format: 'uuid',
  pattern: '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$',
  description: 'must be a UUID (8-4-4-4-12 hexadecimal digits)',
  examples: ['5f0c9f0e-3b1a-4c57-9b0e-1f2d3c4b5a69'],
});

export const CurrencyCode = Type.String({
  pattern: '^[A-Z]{3}$',
  description: 'must be an ISO 4217 code in three upper-case letters for which the service has a rate',
  examples: ['EUR'],
});

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'ISO 8601 in UTC with milliseconds.',
  examples: ['2026-01-31T09:30:00.000Z'],
});

export const Limit = Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Items per page.' });
export const Offset = Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'Items to skip.' });

/** A string of at most this many Unicode code points. */
export const text = (maxLength: number, description: string, examples: string[] = []) =>
  Type.String({ maxLength, description, examples });

/** One of these words. Some generators of clients take an enumeration without a type for a value of any type. */
export const oneOf = <T extends string>(words: T[], description?: string) =>
  Type.Enum(words, { type: 'string', ...(description !== undefined && { description }) });

/**
 * A shared shape with what its value is in this field. The document says that before the shape's own description, which
 * is a rule that errors repeat.
 */
export const meant = <T extends object>(type: T, purpose: string): T =>
  Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(type), purpose: { value: purpose, enumerable: true } },
  ) as T;

/** The fields that every list has beside its items. */
export const listFields = {
  has_more: Type.Boolean({ description: 'Whether another page follows. It begins at offset + limit.' }),
  limit: Type.Integer({ description: 'The limit of this page: that of the call, or 50.' }),
  offset: Type.Integer({ description: 'The offset of this page: that of the call, or 0.' }),
};

export const Ok = Type.Literal(true, { description: 'True: the call succeeded.' });
export const IdempotentReplay = Type.Optional(
  Type.Literal(true, { description: 'Only in the response to a repeated create, and then true.' }),
);
/** The mode of what a response is about. */
export const TestMode = Type.Boolean({ description: 'True for test data, false for live data.' });

/** A link that this service answers. */
export const link = (description: string) => Type.String({ format: 'uri', description });

/** @param description says when the value is null */
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T, description: string) =>
  Type.Union([type, Type.Null()], { description });

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    ok: Type.Literal(false, { description: 'False: the call failed.' }),
    error: Type.String({ description: 'An error code for programs.', examples: ['not_found'] }),
    message: Type.String({ description: 'One sentence for humans.' }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          field: Type.String({ description: 'The field or parameter, such as metadata.order.' }),
          message: Type.String({ description: 'What is wrong with it, to follow its name in a sentence.' }),
        }),
        { description: 'With invalid_request: every invalid field.' },
      ),
    ),
    expected_fiat_code: Type.Optional(
      Type.String({ description: 'With currency_mismatch: the merchant’s currency, an ISO 4217 code.' }),
    ),
    allowed_expiry_minutes: Type.Optional(
      Type.Array(Type.Integer(), { description: 'With expiry_not_allowed: the values allowed for the partner.' }),
    ),
    required_scope: Type.Optional(
      Type.String({ description: 'With insufficient_scope: the scope that the key lacks.' }),
    ),
  },
  {
    title: 'Error',
    additionalProperties: true,
    description: 'The fields after message come with some errors only.',
    examples: [{ ok: false, error: 'not_found', message: 'Nothing was found at this address or with this ID.' }],
  },
);
