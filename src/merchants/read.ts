import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { type MerchantFilter, type MerchantView, selectMerchant, selectMerchants } from './store.ts';

export { type MerchantRow, type MerchantView, merchantFacts } from './store.ts';

/** A merchant of the scope; null for an id that is malformed, unknown, another partner's or of the other mode. */
export async function readMerchant(ctx: Pick<Context, 'db'>, scope: Scope, id: string): Promise<MerchantView | null> {
  return isUuid(id) ? ctx.db.scoped(scope, (tx) => selectMerchant(tx, scope, id)) : null;
}

/** One page of a scope's merchants, oldest first, with one row more than `limit`. */
export function listMerchants(ctx: Pick<Context, 'db'>, scope: Scope, filter: MerchantFilter): Promise<MerchantView[]> {
  return ctx.db.read(scope, (sql) => selectMerchants(sql, scope, filter));
}

/** The oldest merchant of a scope that can be paid; null if there is none. */
export async function findPayableMerchant(ctx: Context, scope: Scope): Promise<string | null> {
  const [merchant] = await listMerchants(ctx, scope, { complete: true, disabled: false, limit: 1, offset: 0 });
  return merchant?.id ?? null;
}
