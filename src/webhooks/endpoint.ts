import type { Actor } from '../audit/actions.ts';
import { audit, theService, withAudit } from '../audit/write.ts';
import { countCall } from '../auth/calls-per-minute.ts';
import { FormRepeated } from '../auth/form-repeated.ts';
import { scopeOfRow } from '../auth/scope.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { clearAlarm } from '../db/alarms.ts';
import { type Database, isUnreachable, type Scope, type Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { decryptOrNull, encrypt } from '../lib/encrypt.ts';
import { modeOf } from '../lib/mode.ts';
import { type OutboundPolicy, urlFault } from '../net/guard.ts';
import { onEndpoint } from './audit-object.ts';
import { EndpointRefusal, UrlRefusal } from './refusal.ts';
import { updatesPerMinute } from './rules.ts';
import { newSecret } from './sign.ts';
import * as store from './store.ts';

/** Where a partner's events of one mode go. The secrets are in clear text: never log this. */
export type Endpoint = {
  url: string | null;
  /** Null where no key in SECRET_KEYS decrypts it: nothing is signed until a new one is activated. */
  secret: string | null;
  /** Created by a rotation; takes over when activated, at the latest after 24 h. Null also where no key decrypts it. */
  pendingSecret: string | null;
  /** When the pending secret was created; null while none is pending. */
  pendingSince: Date | null;
};

/** Only https in live mode, except in the sandbox and for configured networks. */
export function outboundPolicy(config: Config, testMode: boolean): OutboundPolicy {
  return { allowCidrs: config.webhookAllowCidrs, plainHttp: testMode || config.sandbox };
}

/** The endpoint of a scope; null when no URL was ever set. */
export async function readEndpoint(ctx: Context, scope: Scope): Promise<Endpoint | null> {
  const row = await ctx.db.scoped(scope, (tx) => store.selectEndpoint(tx, scope));
  if (!row) return null;
  const decrypted = (encrypted: Uint8Array) => decryptOrNull(ctx.config.secretKeys, encrypted);
  const activated = row.pending_is_due;
  return {
    url: row.url,
    secret: decrypted((activated && row.pending_secret) || row.secret),
    pendingSecret: activated ? null : row.pending_secret && decrypted(row.pending_secret),
    pendingSince: activated ? null : row.pending_since,
  };
}

/**
 * Sets the URL. Keeps an existing secret, otherwise creates one. A disabled endpoint is enabled, and waiting events are
 * due at once. The URL that an enabled endpoint already has changes nothing: its events keep their times.
 *
 * @returns `secret`: the active one; null where no key decrypts it. It is not replaced here, because another node may
 * have its key. `changed`: whether anything was
 * @throws UrlRefusal; Refusal `rate_limited` after ten updates in this minute
 */
export async function setUrl(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  url: string,
): Promise<{ secret: string | null; changed: boolean }> {
  const fault = urlFault(outboundPolicy(ctx.config, scope.testMode), url);
  if (fault) throw new UrlRefusal(fault);
  const set = await withAudit(
    ctx,
    actor,
    async (inner) => {
      await countUpdate(inner.db, scope);
      const changed = await moveUrl(inner, scope, new URL(url).href);
      const endpoint = await readEndpoint(inner, scope);
      if (!endpoint) throw new Error('the endpoint was not stored');
      return { secret: endpoint.secret, changed };
    },
    ({ changed }) => (changed ? urlSet(scope, url) : null),
  );
  if (set.changed) await makeWaitingDue(ctx, scope);
  return set;
}

/** How many events are made due at a time, and how many at most: later ones keep their time. */
const dueBatch = 2_000;
const maxDueBatches = 250;

/**
 * Makes waiting events due at once, after the endpoint was changed. In batches of their own: with hundreds of
 * thousands, one statement would run into its time limit, and the change of the endpoint would be undone.
 */
async function makeWaitingDue({ db }: Context, scope: Scope): Promise<void> {
  for (let batch = 0; batch < maxDueBatches; batch++)
    if ((await db.scoped(scope, (tx) => store.updateDueNow(tx, scope, dueBatch))) < dueBatch) return;
}

/** An address can hold a secret; its host is enough to know where events go. */
const urlSet = (scope: Scope, url: string | null) => ({
  ...onEndpoint(scope),
  action: 'webhook.url_set' as const,
  details: { host: url === null ? null : new URL(url).host },
});

/**
 * Restores the previous URL after a temporary one, unless it was changed since. Does not count as an update.
 *
 * @param earlier null: none was set, so events wait again
 */
export async function restoreUrl(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  temporary: string,
  earlier: string | null,
): Promise<void> {
  const isRestored = await withAudit(
    ctx,
    actor,
    async (inner) => {
      const isOurs = (await readEndpoint(inner, scope))?.url === new URL(temporary).href;
      return isOurs && moveUrl(inner, scope, earlier);
    },
    (restored) => (restored ? urlSet(scope, earlier) : null),
  );
  if (isRestored) await makeWaitingDue(ctx, scope);
}

/** @returns false when the enabled endpoint has this URL already, and nothing changed */
async function moveUrl(ctx: Context, scope: Scope, url: string | null): Promise<boolean> {
  const changed = await ctx.db.scoped(scope, async (tx) => {
    const endpoint = await store.lockEndpoint(tx, scope, encrypt(ctx.config.secretKeys, newSecret()));
    if (endpoint.url === url && !endpoint.disabled_at) return false;
    await store.updateUrl(tx, scope, url);
    await store.updateFailuresReset(tx, scope);
    return true;
  });
  if (changed) await clearDisabledAlarm(ctx.db, scope);
  return changed;
}

/**
 * `formKey`: which form asks for the new secret; null for none. `replaces`: the pending secret that the caller knows
 * of, by the time at which it was created; null for none.
 */
export type Rotation = { formKey: string | null; replaces: Date | null };

/**
 * Creates a new secret, pending until activated. Until then `v1` uses the old one. A pending secret that the caller
 * does not know of stays: whoever created it may already have given it to a receiver, which would never see it used.
 *
 * @returns the pending secret
 * @throws EndpointRefusal no_url, other_pending; FormRepeated; Refusal `rate_limited`
 */
export async function rotateSecret(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  { formKey, replaces }: Rotation,
): Promise<string> {
  const secret = newSecret();
  const rotate = async ({ db }: Context) => {
    await countUpdate(db, scope);
    await db.scoped(scope, async (tx) => {
      const endpoint = await lockExisting(tx, scope);
      if (formKey !== null && endpoint.secret_form === formKey) throw new FormRepeated();
      if (endpoint.pending_is_due) await activateAsDue(ctx, tx, scope);
      else refuseOtherPending(endpoint, replaces);
      await store.updatePending(tx, scope, encrypt(ctx.config.secretKeys, secret), formKey);
    });
  };
  await withAudit(ctx, actor, rotate, () => ({
    ...onEndpoint(scope),
    action: 'webhook.secret_rotated',
    details: {},
  }));
  return secret;
}

function refuseOtherPending({ pending_since: since }: store.EndpointRow, replaces: Rotation['replaces']): void {
  if (since === null || replaces?.getTime() === since.getTime()) return;
  const message = `A new secret has been pending since ${since.toISOString()}. Activate it with webhook activate, or replace it with webhook rotate --replace: then it is never used.`;
  throw new EndpointRefusal('other_pending', message);
}

/**
 * Activates the pending secret.
 *
 * @throws EndpointRefusal no_url, nothing_pending; Refusal `rate_limited`
 */
export async function activateSecret(ctx: Context, actor: Actor, scope: Scope): Promise<void> {
  const activate = async ({ db }: Context) => {
    await countUpdate(db, scope);
    await db.scoped(scope, async (tx) => {
      const endpoint = await lockExisting(tx, scope);
      if (!endpoint.pending_secret) {
        throw new EndpointRefusal('nothing_pending', 'No secret is pending; rotate the secret first.');
      }
      await store.updateActivated(tx, scope);
    });
  };
  await withAudit(ctx, actor, activate, () => activated(scope));
}

const activated = (scope: Scope) => ({
  ...onEndpoint(scope),
  action: 'webhook.secret_activated' as const,
  details: {},
});

const dueAtOnce = 1000;

/** Activates secrets that have been pending for 24 h, over all partners. Returns how many. */
export async function activateDueSecrets(ctx: Context): Promise<number> {
  let activated = 0;
  for (const row of await store.selectDueSecrets(ctx.db, dueAtOnce)) {
    const scope = scopeOfRow(row);
    try {
      const isDone = await ctx.db.scoped(scope, async (tx) => {
        const endpoint = await store.selectLocked(tx, scope);
        return endpoint?.pending_is_due === true && activateAsDue(ctx, tx, scope);
      });
      if (isDone) activated++;
    } catch (error) {
      if (isUnreachable(error)) throw error;
      ctx.log.error({ err: error, ...row }, 'a pending secret could not be activated; it is used for signing anyway');
    }
  }
  return activated;
}

/** The 24 hours of a pending secret are over. The endpoint is locked first, to avoid a deadlock with the audit log. */
async function activateAsDue(ctx: Context, tx: Tx, scope: Scope): Promise<true> {
  await store.updateActivated(tx, scope);
  await audit(ctx, tx, theService, activated(scope));
  return true;
}

/**
 * Enables a disabled endpoint; waiting events are due at once.
 *
 * @returns false when it was not disabled, and nothing changed
 * @throws EndpointRefusal no_url
 */
export async function enableEndpoint(ctx: Context, actor: Actor, scope: Scope): Promise<boolean> {
  const enable = async ({ db }: Context) => {
    const wasDisabled = await db.scoped(scope, async (tx) => {
      const { disabled_at } = await lockExisting(tx, scope);
      if (disabled_at !== null) await store.updateFailuresReset(tx, scope);
      return disabled_at !== null;
    });
    if (wasDisabled) await clearDisabledAlarm(db, scope);
    return wasDisabled;
  };
  const isEnabled = await withAudit(ctx, actor, enable, (wasDisabled) =>
    wasDisabled ? { ...onEndpoint(scope), action: 'webhook.enabled', details: {} } : null,
  );
  if (isEnabled) await makeWaitingDue(ctx, scope);
  return isEnabled;
}

/** The subject of the operator's alarm about a disabled endpoint. */
export function disabledSubject(partnerId: string, testMode: boolean): string {
  return `${partnerId}:${modeOf(testMode)}`;
}

async function clearDisabledAlarm(db: Database, scope: Scope): Promise<void> {
  await clearAlarm(db.sql, 'webhook_disabled', disabledSubject(scope.partnerId, scope.testMode));
}

/** Locked until the transaction ends. */
async function lockExisting(tx: Tx, scope: Scope): Promise<store.EndpointRow> {
  const endpoint = await store.selectLocked(tx, scope);
  if (!endpoint) {
    throw new EndpointRefusal('no_url', 'No webhook URL is set for this partner and mode; set one first.');
  }
  return endpoint;
}

async function countUpdate(db: Database, scope: Scope): Promise<void> {
  const { partnerId } = scope;
  const updates = await countCall(db.sql, { partnerId, subject: partnerId, action: 'webhook_update' });
  if (updates <= updatesPerMinute) return;
  const sentence = `Webhook URLs and secrets can be changed ${updatesPerMinute} times a minute; try again in a minute.`;
  throw refuse('rate_limited', {}, sentence);
}
