import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { isUuid } from '../../lib/ids.ts';
import { browseMerchants } from '../../merchants/browse.ts';
import { readMerchant } from '../../merchants/read.ts';
import { portalTexts } from '../../texts/portal.ts';
import type { Words } from '../../ui/language.ts';
import type { Filter } from '../../web/filters.ts';
import { noAccount } from '../route.ts';
import { merchantName } from './merchants.ts';

/**
 * The merchants that match a typed filter: an id, or part of a name, e-mail address or wallet, as in the list of
 * merchants; at most the 50 newest. If none matches, an id that no merchant has.
 *
 * @returns an empty object if nothing was typed
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

/** The field of that filter. For a merchant that was chosen by its id, it shows the name. */
export async function merchantFilter(
  ctx: Context,
  { words, scope }: { words: Words; scope: Scope },
  typed: string | undefined,
): Promise<Filter> {
  const { requests, merchants } = portalTexts(words);
  const field = { name: 'account_id', label: requests.merchant };
  const merchant = typed === undefined ? null : await readMerchant(ctx, scope, typed);
  if (!merchant) return { kind: 'text', ...field, hint: merchants.searchHint };
  return { kind: 'chosen', ...field, shown: merchantName(words, merchant) };
}
