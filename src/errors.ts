/**
 * Every error an API client can see: code → HTTP status and a sentence for people. Codes never change their meaning.
 */
export const errors = {
  malformed_http: [400, 'This is not a valid HTTP request; the connection is closed.'],
  malformed_text: [400, 'The URL or the form contains invalid characters: NUL or a lone surrogate.'],
  invalid_json: [
    400,
    'The body must be one JSON object in UTF-8 of at most 32 levels, without duplicate keys, NUL or lone surrogates.',
  ],
  invalid_request: [400, 'Some fields are invalid; see details.'],
  invalid_idempotency_key: [400, 'idempotency_key must be 32 to 64 of the characters A-Z, a-z, 0-9, - and _.'],
  customer_name_required: [400, 'customer_name is required when payment_mode is invoice, and must not be blank.'],
  currency_mismatch: [400, 'fiat_currency_code is not the currency of this merchant.'],
  expiry_not_allowed: [400, 'expiry_minutes is not one of the values allowed for this partner.'],
  merchant_disabled: [400, 'This merchant is disabled; enable it in the portal, or ask the operator.'],
  merchant_mode_mismatch: [400, 'A test key cannot use a live merchant, and a live key cannot use a test merchant.'],
  merchant_onboarding_incomplete: [400, 'This merchant has not finished onboarding; send them their onboarding_url.'],
  unauthorized: [401, 'This API key does not exist, was revoked, has expired, or is not for this host.'],
  insufficient_scope: [403, 'This API key lacks the required scope.'],
  partner_disabled: [403, 'This partner is disabled; ask the operator.'],
  not_found: [404, 'Nothing was found at this address or with this ID.'],
  method_not_allowed: [
    405,
    'This address does not support that method: see the Allow header. /docs lists all endpoints.',
  ],
  request_timeout: [408, 'The request took too long to arrive; send it again.'],
  cannot_cancel: [409, 'Only a request with status requested and proof_status none can be cancelled; see request.'],
  wallet_address_conflict: [
    409,
    'This wallet already belongs to a merchant of another partner or of the other mode; use another wallet.',
  ],
  body_too_large: [413, 'The body may have at most 128 KiB.'],
  unsupported_media_type: [415, 'Send the body as JSON, with the header Content-Type: application/json.'],
  rate_limited: [429, 'Too many calls to this endpoint in this minute; wait 60 seconds, then back off.'],
  headers_too_large: [431, 'URL and headers together may have at most 16 KiB.'],
  internal_error: [500, 'Something failed on our side; it is logged under the x-request-id of this response.'],
  rate_unavailable: [503, 'No current exchange rate is available for this currency; try again in a minute.'],
  unavailable: [503, 'The service cannot reach its database; try again shortly.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof errors;

/** One fault of a field, as listed under `details` of `invalid_request`. */
export type FieldFault = { field: string; message: string };

/**
 * An expected failure. It is thrown, so that an open transaction rolls back; one error handler turns it into a
 * response.
 */
export class Refusal extends Error {
  readonly code: ErrorCode;
  readonly extra: Record<string, unknown>;
  constructor(code: ErrorCode, extra: Record<string, unknown>, message: string = errors[code][1]) {
    super(message);
    this.code = code;
    this.extra = extra;
  }
}

/**
 * Makes a refusal: `throw refuse('currency_mismatch', { expected_fiat_code: 'EUR' })`.
 *
 * @param message replaces the code's own sentence, if the caller knows more
 */
export function refuse(code: ErrorCode, extra: Record<string, unknown> = {}, message?: string): Refusal {
  return new Refusal(code, extra, message);
}

/**
 * The refusal for invalid fields. Its sentence states the first fault, because many programs log the sentence alone.
 *
 * @param faults at least one
 */
export function refuseFields(faults: FieldFault[]): Refusal {
  const [{ field, message } = { field: 'A field', message: 'is invalid' }, ...more] = faults;
  // The caller chooses the keys of metadata: one that is long, or has line breaks, is left to details.
  const name = /^[\w.-]{1,80}$/.test(field) ? field : `A field of ${field.split('.', 1)[0]}`;
  const rest = more.length > 0 ? `; details lists ${more.length} more ${more.length === 1 ? 'fault' : 'faults'}` : '';
  return refuse('invalid_request', { details: faults }, `${name} ${message}${rest}.`);
}

/**
 * The user who acts was removed, or given another role, after the act began. Nothing was changed. Users act on pages
 * only, and the page says what happened.
 */
export class AccessChanged extends Refusal {
  constructor() {
    super('not_found', {});
  }
}

/** The refusal for a request that is unknown, another partner's or of the other mode. It does not reveal which. */
export function refuseRequest(): Refusal {
  return refuse('not_found', {}, 'This partner has no request with this ID in the mode of this key.');
}

/** The refusal for an `account_id` that is unknown or belongs to another partner. It does not reveal which. */
export function refuseMerchant(): Refusal {
  return refuse(
    'not_found',
    {},
    'This partner has no merchant with this account_id in the mode of this key; GET /api/v1/accounts lists its merchants.',
  );
}
