import { type ErrorCode, errors, refuseFields } from '../errors.ts';

/** Errors that any call can return, also those of its HTTP. */
const ofEveryCall = [
  'malformed_http',
  'unauthorized',
  'insufficient_scope',
  'partner_disabled',
  'not_found',
  'request_timeout',
  'rate_limited',
  'headers_too_large',
  'internal_error',
  'unavailable',
] as const satisfies ErrorCode[];

const invalid = refuseFields([{ field: 'fiat_amount_int', message: 'must be at least 1' }]);

/** Examples of the extra fields that some errors have beside code and message. */
const extras: Partial<Record<ErrorCode, object>> = {
  invalid_request: { message: invalid.message, ...invalid.extra },
  currency_mismatch: { expected_fiat_code: 'EUR' },
  expiry_not_allowed: { allowed_expiry_minutes: [5, 15, 60] },
  insufficient_scope: { required_scope: 'requests:write' },
};

const titles: Record<number, string> = {
  400: 'The call is not valid.',
  401: 'The key is missing or not valid.',
  403: 'The key does not permit this.',
  404: 'Nothing was found with this key.',
  408: 'The call took too long to arrive.',
  409: 'The call conflicts with what is stored.',
  413: 'The body is too large.',
  415: 'The body is not JSON.',
  429: 'Too many calls within a minute.',
  431: 'The URL and the headers are too large.',
  500: 'Something failed on our side.',
  503: 'The service cannot respond right now.',
};

const schema = { $ref: '#/components/schemas/Error' };

/**
 * The responses of an operation for its errors, by status, each error with an example. Every status has an entry of its
 * own: some generators of clients write a range such as `4XX` into their code as if it were a number, and cannot tell a
 * success from an error beside a `default`.
 *
 * @param own the errors that it can return beside those of every call
 * @param held the example for `request` of `cannot_cancel`
 */
export function errorResponses(own: readonly ErrorCode[], held: object): Record<string, object> {
  const codes = [...new Set<ErrorCode>([...own, ...ofEveryCall])];
  const byStatus = Map.groupBy(codes, (code) => errors[code][0]);
  const example = (code: ErrorCode) => ({
    summary: errors[code][1],
    value: {
      ok: false,
      error: code,
      message: errors[code][1],
      ...extras[code],
      ...(code === 'cannot_cancel' && { request: { ...held, status: 'opened' } }),
    },
  });
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: titles[status] ?? '',
        content: {
          'application/json': { schema, examples: Object.fromEntries(codes.map((code) => [code, example(code)])) },
        },
      },
    ]),
  );
}
