import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';

export type SecretKey = { id: string; key: Uint8Array };

/** The purpose for which a key is derived, so that one secret never serves two purposes. */
type Purpose =
  | 'seal'
  | 'mark'
  | 'api-key'
  | 'reference'
  | 'charge'
  | 'onboarding'
  | 'session'
  | 'sign-in'
  | 'wallet-message'
  | 'recovery'
  | 'passkey'
  | 'plan-mails'
  | 'relayer'
  | 'plan-page'
  | 'plan-terms'
  | 'day-count'
  | 'database';

/** Key objects, because an HMAC with raw bytes as its key takes several times as long. */
const derived = new WeakMap<SecretKey, Map<Purpose, KeyObject>>();

function derive(secret: SecretKey, purpose: Purpose): KeyObject {
  const known = derived.get(secret) ?? new Map<Purpose, KeyObject>();
  derived.set(secret, known);
  const bytes = () => new Uint8Array(hkdfSync('sha256', secret.key, '', `quittance/${purpose}`, 32));
  const key = known.get(purpose) ?? createSecretKey(bytes());
  known.set(purpose, key);
  return key;
}

/** A keyed hash (HMAC-SHA256, 32 bytes) of a text for one purpose. */
export function keyedHash(secret: SecretKey, purpose: Purpose, text: string): Buffer {
  return createHmac('sha256', derive(secret, purpose)).update(text).digest();
}

/**
 * Whether bytes are a keyed hash that was made with any of the secret keys. The time it takes does not depend on the
 * bytes.
 *
 * @param macOf the hash under a key
 */
export function matchesAnyKey(secrets: SecretKey[], macOf: (secret: SecretKey) => Buffer, given: Uint8Array): boolean {
  return secrets.some((secret) => {
    const own = macOf(secret);
    return own.length === given.length && timingSafeEqual(own, given);
  });
}

/**
 * Encrypts with AES-256-GCM under the newest key: one byte id length, key id, 12 bytes nonce, 16 bytes tag, ciphertext.
 */
export function encrypt(secrets: SecretKey[], text: string): Buffer {
  const secret = newest(secrets);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', derive(secret, 'seal'), nonce);
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const id = Buffer.from(secret.id);
  return Buffer.concat([Buffer.of(id.length), id, nonce, cipher.getAuthTag(), encrypted]);
}

/**
 * Decrypts what `encrypt` made, with the key it names.
 *
 * @throws Error when that key is gone or the bytes were changed
 */
export function decrypt(secrets: SecretKey[], encrypted: Uint8Array): string {
  const bytes = Buffer.from(encrypted);
  const idEnd = 1 + (bytes[0] ?? 0);
  const id = bytes.toString('utf8', 1, idEnd);
  const secret = secrets.find((candidate) => candidate.id === id);
  if (!secret) throw new Error(`SECRET_KEYS no longer holds the key "${id}"`);
  // The length is checked because a shorter tag would otherwise be accepted, and could be guessed.
  const options = { authTagLength: 16 };
  const decipher = createDecipheriv('aes-256-gcm', derive(secret, 'seal'), bytes.subarray(idEnd, idEnd + 12), options);
  decipher.setAuthTag(bytes.subarray(idEnd + 12, idEnd + 28));
  return decipher.update(bytes.subarray(idEnd + 28), undefined, 'utf8') + decipher.final('utf8');
}

/** Decrypts what `encrypt` made; null where no key can. */
export function decryptOrNull(secrets: SecretKey[], encrypted: Uint8Array): string | null {
  try {
    return decrypt(secrets, encrypted);
  } catch {
    return null; // the only failure there is: its key is gone, or the bytes are not what this key made
  }
}

/** The key that encrypts and hashes new values. */
export function newest(secrets: SecretKey[]): SecretKey {
  const [secret] = secrets;
  if (!secret) throw new Error('no secret key');
  return secret;
}
