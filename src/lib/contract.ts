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
  description: 'ISO 8601 in UTC with milliseconds',
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

/** A link that this service answers. */
export const link = (description: string) => Type.String({ format: 'uri', description });

/** A value that is null when absent. */
export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);

/** The body of every error. */
export const ErrorBody = Type.Object(
  {
    ok: Type.Literal(false),
    error: Type.String({ description: 'An error code for programs.', examples: ['not_found'] }),
    message: Type.String({ description: 'One sentence for humans.' }),
    details: Type.Optional(
      Type.Array(Type.Object({ field: Type.String(), message: Type.String() }), {
        description: 'With invalid_request: every invalid field.',
      }),
    ),
    expected_fiat_code: Type.Optional(Type.String({ description: 'With currency_mismatch.' })),
    allowed_expiry_minutes: Type.Optional(Type.Array(Type.Integer(), { description: 'With expiry_not_allowed.' })),
    required_scope: Type.Optional(Type.String({ description: 'With insufficient_scope.' })),
  },
  {
    title: 'Error',
    additionalProperties: true,
    description: 'The fields after message come with some errors only.',
    examples: [{ ok: false, error: 'not_found', message: 'Nothing was found at this address or with this ID.' }],
  },
);
