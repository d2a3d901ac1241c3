import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isUuid } from '../../lib/ids.ts';
import { browseMerchants } from '../../merchants/browse.ts';
import { noAccount } from '../route.ts';

/**
 * The merchants that a filter means by what was typed: a number, or something of a name, e-mail address or wallet, as the
 * list of merchants finds them; at most the 50 newest of these. For what fits none, a merchant that nobody is.
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
