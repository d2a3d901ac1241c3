const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** An 8-4-4-4-12 UUID in either case; the database compares them in lower case. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && uuidPattern.test(text);
}

const addressPattern = /^0x[0-9a-fA-F]{40}$/;

/** An EVM address in any casing. Addresses are stored and compared in lower case. */
export function isAddress(text: unknown): text is string {
  return typeof text === 'string' && addressPattern.test(text);
}
