import type { ChainConfig } from '../config/chains.ts';
import type { Due } from '../db/due.ts';

/** A transfer that is not matched yet. */
export const matchingDue =
  ({ chainId }: ChainConfig): Due =>
  (sql) =>
    sql`select min(look_at) from transfers where chain_id = ${chainId} and judged_at is null`;

/** A transfer that counts and is not known to be final. */
export const unsettledDue =
  ({ chainId }: ChainConfig): Due =>
  (sql) =>
    sql`select min(look_at) from transfers where chain_id = ${chainId} and counts and final_at is null`;

/** A refund transaction that must be looked up again, including one that another replaced. */
export const refundsDue: Due = (sql) => sql`
  select least((select min(next_look_at) from returns
    where state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null),
    (select min(next_look_at) from returns_replaced))`;
