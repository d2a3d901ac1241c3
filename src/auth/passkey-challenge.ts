import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import type { Tx } from '../db/connection.ts';
import { minuteMs } from '../lib/durations.ts';
import { keyedHash, type SecretKey } from '../lib/encrypt.ts';
import { makeExpiringToken, readExpiringToken } from './expiring-token.ts';

/** How long a challenge is valid. */
export const challengeMs = 5 * minuteMs;

/**
 * The purpose of a challenge: to sign in to a realm, to confirm an open session, or to add a passkey in one. `subject`
 * is the realm's kind or the session's id, `origin` the address of the page.
 */
export type PasskeyUse = { purpose: 'sign_in' | 'confirm' | 'add'; subject: string; origin: string };

type ChallengeContext = { config: Pick<Config, 'secretKeys'>; clock: Context['clock'] };

const macOf =
  ({ purpose, subject, origin }: PasskeyUse) =>
  (secret: SecretKey, head: string) =>
    keyedHash(secret, 'passkey', JSON.stringify([purpose, subject, origin, head]));

/** A single-use challenge: random, with its expiry and a proof that we made it. Nothing is stored until it is used. */
export function makeChallenge({ config, clock }: ChallengeContext, use: PasskeyUse): Uint8Array<ArrayBuffer> {
  return new Uint8Array(makeExpiringToken(config.secretKeys, clock.now().getTime() + challengeMs, macOf(use)));
}

/**
 * Consumes a returned challenge, in the transaction that acts on the response. Deletes expired ones.
 *
 * @returns `unknown` for one that we did not make for this purpose; `expired` if it has expired or was already used
 */
export async function takeChallenge(
  { config, clock }: ChallengeContext,
  tx: Tx,
  use: PasskeyUse,
  text: string,
): Promise<'taken' | 'unknown' | 'expired'> {
  const bytes = Buffer.from(text, 'base64url');
  const proof = readExpiringToken(config.secretKeys, bytes, macOf(use));
  if (!proof) return 'unknown';
  const now = clock.now();
  if (proof.until <= now) return 'expired';
  const { count } = await tx`
    with forgotten as (
      delete from used_passkey_challenges where expires_at < ${now}::timestamptz - interval '1 hour')
    insert into used_passkey_challenges (challenge, expires_at) values (${bytes}, ${proof.until}) on conflict do nothing`;
  return count === 1 ? 'taken' : 'expired';
}
