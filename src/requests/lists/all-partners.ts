import { scopeOfRow } from '../../auth/scope.ts';
import { allChains } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import type { SearchText } from '../../lib/text/search-text.ts';
import { selectOfAllPartners } from './all-partners-store.ts';

/**
 * Operators: the requests of all partners in both modes that are named by an id, its beginning, a whole e-mail address
 * or a transaction; at most 20, newest first. `isAll`: false if there are more, which any partner can cause.
 */
export async function findOfAllPartners(
  ctx: Context,
  search: SearchText,
): Promise<{ requests: { scope: Scope; id: string }[]; isAll: boolean }> {
  const chainIds = allChains(ctx.chains).map(({ chainId }) => chainId);
  const { rows, isAll } = await ctx.db.transaction((tx) => selectOfAllPartners(tx, search, chainIds));
  return { requests: rows.map((row) => ({ scope: scopeOfRow(row), id: row.id })), isAll };
}
