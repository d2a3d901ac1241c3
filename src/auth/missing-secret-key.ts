import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { missingKeys } from '../db/secret-keys.ts';
import { Refusal, refuse } from '../errors.ts';
import { cachedFor } from '../lib/cache.ts';

/** How long the result of a check for missing keys is cached, so that invented keys and links cause few queries. */
const keepMs = 5_000;

type Asking = Pick<Context, 'config' | 'db' | 'clock'>;
const lacking = new WeakMap<Config, () => Promise<string[]>>();

/** The node lacks a secret key that another node uses, so it cannot know what was made there. The log names the key. */
export class MissingSecretKey extends Refusal {
  constructor(keyIds: readonly string[]) {
    super('unavailable', {}, 'This cannot be checked at the moment; send it again shortly.');
    this.cause = new Error(`SECRET_KEYS of this node lacks ${keyIds.join(', ')}, which another node uses`);
  }
}

/** @returns the refusal if this node lacks a secret key of another node; null if it lacks none */
async function missingSecretKey({ config, db, clock }: Asking): Promise<MissingSecretKey | null> {
  const ask = lacking.get(config) ?? cachedFor(keepMs, clock, () => missingKeys(db.sql, config.secretKeys));
  lacking.set(config, ask);
  const keyIds = await ask();
  return keyIds.length > 0 ? new MissingSecretKey(keyIds) : null;
}

/** The refusal for an API key that this node does not know: no caller may take a valid key for a wrong one. */
export const refuseUnknownKey = async (ctx: Asking): Promise<Refusal> =>
  (await missingSecretKey(ctx)) ?? refuse('unauthorized');

/**
 * Call this when no secret key of this node has made the token of a link.
 *
 * @throws MissingSecretKey if another node may have made it
 */
export async function refuseUnknownLink(ctx: Asking): Promise<void> {
  const refusal = await missingSecretKey(ctx);
  if (refusal) throw refusal;
}
