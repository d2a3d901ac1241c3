import type { Scope, Sql } from '../db/connection.ts';
import { setIdleTimeout } from '../db/idle-timeout.ts';
import { type ReadFacts, requestCreateFacts } from './create-facts-store.ts';

/** What the decision about a manual request needs: the partner's settings, and what the gate reads for an API call. */
export type ManualFacts = ReadFacts & {
  disabled: boolean;
  currency: string;
  allowed_expiry_minutes: number[];
  default_expiry_minutes: number;
};

/**
 * Reads the same as the gate's statement, with a session's scope in place of a key's caller. The rest of the
 * transaction must not idle: other creates for the merchant's wallet wait until it commits.
 */
export async function selectCreateFacts(sql: Sql, scope: Scope, body: Record<string, unknown>): Promise<ManualFacts> {
  const [row] = await sql<ManualFacts[]>`
    with key as (
      select id as partner_id, ${scope.testMode}::boolean as test_mode, currency, allowed_expiry_minutes,
        default_expiry_minutes, disabled_at is not null as disabled
      from partners where id = ${scope.partnerId}
    )
    select key.*, ${requestCreateFacts(sql, body)}, ${setIdleTimeout(sql)} as idle_timeout
    from key`;
  if (!row) throw new Error('the partner of a session no longer exists'); // partners are never deleted
  return row;
}

/** The partner's allowed values of `expiry_minutes`, and its default. */
export async function selectExpiries(sql: Sql, scope: Scope): Promise<{ allowed: number[]; usual: number }> {
  const [row] = await sql<{ allowed: number[]; usual: number }[]>`
    select allowed_expiry_minutes as allowed, default_expiry_minutes as usual from partners
    where id = ${scope.partnerId}`;
  if (!row) throw new Error('the partner of a session no longer exists'); // partners are never deleted
  return row;
}
