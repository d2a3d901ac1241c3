import type { Scope, Sql } from '../db/connection.ts';
import { setIdleTimeout } from '../db/idle-timeout.ts';
import { type CreateFacts, requestCreateFacts } from './create.ts';

/** What deciding about a manual request needs: the partner's settings, and what the gate reads for a call by API. */
export type ManualFacts = CreateFacts & {
  disabled: boolean;
  currency: string;
  allowed_expiry_minutes: number[];
  default_expiry_minutes: number;
};

/**
 * As the gate's statement reads it; the caller is a session's scope instead of a key's. What follows in the same
 * transaction may not idle: other creates for the merchant's wallet wait until it commits.
 */
export async function selectManualFacts(sql: Sql, scope: Scope, body: Record<string, unknown>): Promise<ManualFacts> {
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

export async function selectAllowedExpiries(sql: Sql, scope: Scope): Promise<number[]> {
  const [row] = await sql<{ allowed_expiry_minutes: number[] }[]>`
    select allowed_expiry_minutes from partners where id = ${scope.partnerId}`;
  return row?.allowed_expiry_minutes ?? [];
}
