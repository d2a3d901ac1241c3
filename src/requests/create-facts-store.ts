import type { Sql } from '../db/connection.ts';
import type { Fragment } from '../db/sql.ts';
import { isUuid } from '../lib/ids.ts';
import { merchantFacts } from '../merchants/read.ts';
import { currencyKnown } from '../rates/currency-field.ts';
import type { CreateFacts } from './plan-create.ts';
import { isIdempotencyKey } from './rules.ts';
import { type KnownHead, startFacts } from './store.ts';

/** What the gate's statement reads for a create: what decides, an earlier request with the key, the newest blocks. */
export type ReadFacts = CreateFacts & { replay_id: string | null; heads: Record<string, KnownHead> | null };

/** The columns of `ReadFacts` for the gate's statement. The body is not validated yet. */
export function requestCreateFacts(sql: Sql, body: Record<string, unknown>): Fragment {
  const accountId = isUuid(body.account_id) ? body.account_id : null;
  const key = isIdempotencyKey(body.idempotency_key) ? body.idempotency_key : null;
  return sql`
    ${merchantFacts(sql, accountId)}, ${startFacts(sql, accountId, key)},
    ${currencyKnown(sql, body.fiat_currency_code)}`;
}
