import type { Config } from '../config.ts';
import { dayMs } from '../lib/durations.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { bytesOfUuid, uuidOfBytes } from '../lib/ids.ts';

/** An onboarding link is valid for seven days. Reading the merchant gives a new one. */
const onboardingTokenMs = 7 * dayMs;

/** The part of a merchant from which a link is made. A reset raises the epoch, which invalidates older links. */
export type OnboardingSubject = { id: string; onboarding_epoch: number };

const headBytes = 24; // 16 account id, 4 expiry in seconds, 4 epoch
const macBytes = 24;

function mac(secret: SecretKey, head: Buffer): Buffer {
  return keyedHash(secret, 'onboarding', `link/${head.toString('hex')}`).subarray(0, macBytes);
}

/** An unguessable token for a merchant's onboarding: 64 characters of base64url. Nothing is stored. */
export function makeOnboardingToken(secrets: SecretKey[], subject: OnboardingSubject, now: Date): string {
  const head = Buffer.alloc(headBytes);
  bytesOfUuid(subject.id).copy(head);
  head.writeUInt32BE(Math.floor((now.getTime() + onboardingTokenMs) / 1000), 16);
  head.writeUInt32BE(subject.onboarding_epoch, 20);
  return Buffer.concat([head, mac(newest(secrets), head)]).toString('base64url');
}

/**
 * Reads a token that was made with any of the secret keys.
 *
 * @returns null for a token that we did not make; `expired` is true after seven days
 */
export function readOnboardingToken(
  secrets: SecretKey[],
  token: string,
  now: Date,
): { accountId: string; epoch: number; expired: boolean } | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== headBytes + macBytes || bytes.toString('base64url') !== token) return null;
  const head = bytes.subarray(0, headBytes);
  const given = bytes.subarray(headBytes);
  if (!matchesAnyKey(secrets, (secret) => mac(secret, head), given)) return null;
  const accountId = uuidOfBytes(head.subarray(0, 16));
  return { accountId, epoch: head.readUInt32BE(20), expired: head.readUInt32BE(16) * 1000 <= now.getTime() };
}

/** The address at which a merchant completes onboarding, with a new token. */
export function onboardingUrl(config: Config, subject: OnboardingSubject, now: Date): string {
  return `${config.baseUrl}/onboard/${makeOnboardingToken(config.secretKeys, subject, now)}`;
}
