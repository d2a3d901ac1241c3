import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Database, Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { batchesOf, readPage } from '../lib/paging.ts';

/** A key as its partner sees it, without its value. */
export type OwnKey = {
  id: string;
  hint: string;
  name: string | null;
  scopes: string[];
  created_at: Date;
  /** The e-mail address of the user who created it; null if no user did. */
  created_by: string | null;
  /** When it ends; null if it works until it is revoked. */
  ends_at: Date | null;
  revoked_at: Date | null;
  /** The minute of its last call; null for a key that was never used. */
  last_used_at: Date | null;
};

/** Whether calls with a key are accepted: it was not revoked, and has not ended. */
export const isUsable = ({ revoked_at, ends_at }: OwnKey, now: Date): boolean =>
  revoked_at === null && (ends_at === null || ends_at > now);

/**
 * One page of a partner's keys of one mode, newest first. The counters that limit a key's calls also show when it was
 * last used, so using a key writes nothing more.
 *
 * @param after id of the last key of the previous page; anything else starts at the newest
 */
export function browseKeys(
  db: Database,
  scope: Scope,
  after: string | null,
): Promise<{ rows: OwnKey[]; next: string | null }> {
  return readPage(
    (from, limit) => selectKeys(db, scope, from, limit),
    ({ id }) => id,
    after,
  );
}

/** All keys of a partner in one mode, newest first, in batches. */
export const exportKeys = (db: Database, scope: Scope): AsyncGenerator<OwnKey[]> =>
  batchesOf(
    (from, limit) => selectKeys(db, scope, from, limit),
    ({ id }) => id,
  );

function selectKeys(
  { sql }: Database,
  { partnerId, testMode }: Scope,
  after: string | null,
  limit: number,
): Promise<OwnKey[]> {
  return sql<OwnKey[]>`
    select k.id, k.hint, k.name, k.scopes, k.created_at, k.created_by, k.ends_at, k.revoked_at,
      (select max(c.minute) from rate_counters c where c.partner_id = k.partner_id and c.subject = k.id) as last_used_at
    from api_keys k
    where k.partner_id = ${partnerId} and k.test_mode = ${testMode}
      ${isUuid(after) ? sql`and (k.created_at, k.id) < (select a.created_at, a.id from api_keys a where a.partner_id = ${partnerId} and a.id = ${after})` : sql``}
    order by k.created_at desc, k.id desc limit ${limit}`;
}

/**
 * Revokes one of a partner's own keys immediately, on every node.
 *
 * @returns its hint; null if the partner has no such key in this mode, or it was already revoked
 */
export function revokeOwnKey(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  id: string,
): Promise<string | null> {
  const { partnerId, testMode } = scope;
  return ctx.db.transaction(async (tx) => {
    const [row] = await tx<{ hint: string }[]>`
      update api_keys set revoked_at = now()
      where partner_id = ${partnerId} and test_mode = ${testMode} and id = ${id} and revoked_at is null returning hint`;
    if (!row) return null;
    const { hint } = row;
    await audit(ctx, tx, actor, { ...scope, action: 'key.revoked', object: { kind: 'key', id }, details: { hint } });
    return hint;
  });
}
