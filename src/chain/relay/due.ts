import type { ChainConfig } from '../../config/chains.ts';
import type { Due } from '../../db/due.ts';

/** An account of a chain that must be checked. One whose key was removed need not be, once its calls are decided. */
export const relayDue =
  ({ chainId }: ChainConfig): Due =>
  (sql) =>
    sql`
    select min(look_at) from relay_accounts a
    where chain_id = ${chainId} and (checked_at > now() - interval '1 hour' or exists (
      select from relay_transactions r where r.chain_id = a.chain_id and r.from_address = a.address
        and r.state in ('allotted', 'sent', 'mined')))`;
