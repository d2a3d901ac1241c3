import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Database, Scope } from '../db/connection.ts';
import { keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { type Mode, modeOf } from '../lib/mode.ts';
import { checksum62, randomBase62 } from '../lib/text/base62.ts';
import { FormRepeated } from './form-repeated.ts';
import { scopeOfRow } from './scope.ts';

/** The scopes a key can have. */
export const scopeNames = ['requests:write', 'requests:read', 'accounts:write', 'accounts:read'] as const;
export type ScopeName = (typeof scopeNames)[number];

const keyPattern = /^(qt_(?:test|live)_[0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

/** Whether a text has the form of a key and a correct checksum. The key need not exist. */
export function isWellFormedKey(text: string): boolean {
  const match = keyPattern.exec(text);
  return match !== null && checksum62(match[1] as string) === match[2];
}

/** The hashes under which a key may be stored: one per secret key in use, newest first. */
export function keyHashes(secrets: SecretKey[], key: string): Buffer[] {
  return secrets.map((secret) => keyedHash(secret, 'api-key', key));
}

export type ApiKeyView = {
  key_id: string;
  mode: Mode;
  hint: string;
  name: string | null;
  scopes: string[];
  created_at: string;
  created_by: string | null;
  ends_at: string | null;
  revoked_at: string | null;
};

/** The longest name of a key, in Unicode code points. */
export const maxKeyName = 60;

/** The properties of a new key. */
export type NewKey = {
  scopes: readonly ScopeName[];
  /** What the key is for, as its creator describes it: 1 to `maxKeyName` code points. */
  name: string | null;
  /** When it ends; null if it works until it is revoked. */
  endsAt: Date | null;
  /** Identifies the form that creates it, so that a form that is sent twice creates one key; null without a form. */
  formKey: string | null;
};

/** A key with all scopes, without name or end. */
export const usualKey: NewKey = { scopes: scopeNames, name: null, endsAt: null, formKey: null };

/**
 * Creates a key and stores its hash.
 *
 * @returns the key itself, which is never shown again
 * @throws FormRepeated if the same form has already created one
 */
export async function createApiKey(
  ctx: Pick<Context, 'config' | 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  { scopes, name, endsAt, formKey }: NewKey,
): Promise<{ key_id: string; key: string }> {
  const id = randomUUID();
  const body = `qt_${modeOf(scope.testMode)}_${randomBase62(32)}`;
  const key = body + checksum62(body);
  const hint = `${body.slice(0, 8)}…${key.slice(-4)}`;
  const hash = keyedHash(newest(ctx.config.secretKeys), 'api-key', key);
  await ctx.db.transaction(async (tx) => {
    const { count } = await tx`
      insert into api_keys (id, partner_id, test_mode, hash, hint, scopes, name, created_by, ends_at, form_key)
      values (${id}, ${scope.partnerId}, ${scope.testMode}, ${hash}, ${hint}, ${[...scopes]}, ${name},
        ${emailOf(actor)}, ${endsAt}, ${formKey})
      on conflict (partner_id, test_mode, form_key) where form_key is not null do nothing`;
    if (count === 0) throw new FormRepeated();
    await audit(ctx, tx, actor, { ...scope, action: 'key.created', object: { kind: 'key', id }, details: { scopes } });
  });
  return { key_id: id, key };
}

const emailOf = (actor: Actor): string | null => ('email' in actor ? actor.email : null);

/** The limit of a list; far more keys than a partner needs. */
const maxListed = 10_000;

/**
 * All keys of a partner, without their values: live keys before test keys, valid ones before revoked ones, each oldest
 * first. So test keys, which more people may create, cannot push live ones out of a list that is too long.
 */
export async function listApiKeys(db: Database, partnerId: string): Promise<ApiKeyView[]> {
  const rows = await db.sql`
    select id, test_mode, hint, name, scopes, created_at, created_by, ends_at, revoked_at from api_keys
    where partner_id = ${partnerId}
    order by test_mode, revoked_at is not null, created_at, id limit ${maxListed}`;
  return rows.map((row) => ({
    key_id: row.id,
    mode: modeOf(row.test_mode),
    hint: row.hint,
    name: row.name,
    scopes: row.scopes,
    created_at: row.created_at.toISOString(),
    created_by: row.created_by,
    ends_at: row.ends_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  }));
}

/** Revokes a key immediately, on every node. Returns its hint, also if it was revoked before; null if it is unknown. */
export function revokeApiKey(ctx: Pick<Context, 'db' | 'clock'>, actor: Actor, id: string): Promise<string | null> {
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx<{ partner_id: string; test_mode: boolean; hint: string; revoked: boolean }[]>`
      with before as (select revoked_at from api_keys where id = ${id} for update)
      update api_keys k set revoked_at = coalesce(k.revoked_at, now()) from before where k.id = ${id}
      returning k.partner_id, k.test_mode, k.hint, before.revoked_at is not null as revoked`;
    if (!row) return null;
    const { hint } = row;
    if (row.revoked) return hint;
    await audit(ctx, tx, actor, {
      ...scopeOfRow(row),
      action: 'key.revoked',
      object: { kind: 'key', id },
      details: { hint },
    });
    return hint;
  });
}
