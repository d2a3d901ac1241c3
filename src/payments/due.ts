import type { ChainConfig } from '../config/chains.ts';
import { type Due, dueSince } from '../db/due.ts';

/** A transfer that is not matched yet. */
export const matchingDue =
  ({ chainId }: ChainConfig): Due =>
  (sql, since) =>
    sql`
    select min(look_at) from transfers
    where chain_id = ${chainId} and judged_at is null ${dueSince(sql, sql`look_at`, since)}`;

/** A transfer that counts and is not known to be final. */
export const unsettledDue =
  ({ chainId }: ChainConfig): Due =>
  (sql, since) =>
    sql`
    select min(look_at) from transfers
    where chain_id = ${chainId} and counts and final_at is null ${dueSince(sql, sql`look_at`, since)}`;
