import type { Due } from '../db/due.ts';

/** A refund transaction that must be looked up again, including one that another replaced. */
export const refundsDue: Due = (sql) => sql`
  select least((select min(next_look_at) from returns
    where state in ('sent', 'missing', 'kept') and return_tx_hash is not null and from_address is not null),
    (select min(next_look_at) from returns_replaced))`;
