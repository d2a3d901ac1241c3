import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isUuid } from '../../lib/ids.ts';
import { browseMerchants } from '../../merchants/browse.ts';
import { noAccount } from '../route.ts';

/**
 * The merchants that match a typed filter: an id, or part of a name, e-mail address or wallet, as in the list of
 * merchants; at most the 50 newest. If none matches, an id that no merchant has.
 *
 * @returns nothing where nothing was typed
 */
export async function accountsFor(
  ctx: Context,
  scope: Scope,
  typed: string | undefined,
): Promise<{ accountId?: string | string[] }> {
  if (typed === undefined) return {};
  if (isUuid(typed)) return { accountId: typed };
  const { rows } = await browseMerchants(ctx, scope, { search: typed }, null);
  return { accountId: rows.length > 0 ? rows.map(({ id }) => id) : noAccount };
}
