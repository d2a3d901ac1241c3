import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';

/** The tolerated difference between a receiver's clock and ours, in milliseconds. */
const signatureToleranceMs = 300_000;

const secretPrefix = 'whsec_';

/** A new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

export type SignedHeaders = { deliveryId: string; event: string; body: string };

/**
 * The headers of one attempt, freshly signed: our own, and those of the Standard Webhooks specification.
 *
 * @param secret the active secret
 * @param pendingSecret the one that takes over, null when there is none; only `webhook-signature` uses it
 */
export function signedHeaders(
  signed: SignedHeaders,
  secret: string,
  pendingSecret: string | null,
  now: Date,
): Record<string, string> {
  const t = Math.floor(now.getTime() / 1000);
  const standard = `${signed.deliveryId}.${t}.${signed.body}`;
  const secrets = pendingSecret === null ? [secret] : [secret, pendingSecret];
  return {
    'content-type': 'application/json',
    'user-agent': 'Quittance-Webhooks/1',
    'x-service-event': signed.event,
    'x-service-signature': `v1=${signV1(secret, t, signed.body)},t=${t}`,
    'x-service-delivery': signed.deliveryId,
    'webhook-id': signed.deliveryId,
    'webhook-timestamp': `${t}`,
    'webhook-signature': secrets.map((key) => `v1,${signStandard(key, standard)}`).join(' '),
  };
}

type Keys = { v1: KeyObject; standard: KeyObject };

/** Created once per secret: an HMAC with a prepared key takes a seventh of the time of one with bytes. */
const keysOfSecrets = new Map<string, Keys>();
const maxKeys = 10_000;

function keysOf(secret: string): Keys {
  const known = keysOfSecrets.get(secret);
  if (known) return known;
  const standard = createSecretKey(Buffer.from(secret.slice(secretPrefix.length), 'base64'));
  const keys = { v1: createSecretKey(Buffer.from(secret)), standard };
  if (keysOfSecrets.size >= maxKeys) keysOfSecrets.clear();
  keysOfSecrets.set(secret, keys);
  return keys;
}

/** Lower-case hex HMAC-SHA256 over `<t>.<raw body>`, keyed by the complete secret string. */
function signV1(secret: string, t: number | string, body: string | Uint8Array): string {
  return createHmac('sha256', keysOf(secret).v1).update(`${t}.`).update(body).digest('hex');
}

/** Standard Webhooks: base64 HMAC-SHA256, keyed by the bytes that the secret's base64 encodes. */
function signStandard(secret: string, content: string): string {
  return createHmac('sha256', keysOf(secret).standard).update(content).digest('base64');
}

const signaturePattern = /^v1=([0-9a-f]{64}),t=(\d{1,12})$/;

/**
 * The reference check for receivers: verifies `x-service-signature` against the raw body, in constant time, within 300
 * s.
 *
 * @param header the header's value; a missing one is invalid
 */
export function verifySignature(
  secret: string,
  header: string | undefined,
  rawBody: string | Uint8Array,
  now: Date,
): boolean {
  const match = signaturePattern.exec(header ?? '');
  if (!match) return false;
  const [, signature = '', t = ''] = match;
  if (Math.abs(now.getTime() - Number(t) * 1000) > signatureToleranceMs) return false;
  return timingSafeEqual(Buffer.from(signature), Buffer.from(signV1(secret, t, rawBody)));
}
