import type { Scope, Tx } from '../db/connection.ts';
import { unionBranches } from '../db/union-branches.ts';
import { isAddress, isUuid } from '../lib/ids.ts';
import { containsPattern } from '../lib/text/like-pattern.ts';
import { type MerchantStates, statesApart } from './in-states.ts';
import type { MerchantRow } from './store.ts';

export const onboardingStates = ['incomplete', 'complete'] as const;
export const switches = ['partner', 'operator', 'none'] as const;

/** Filters over a scope's merchants; absent ones do not filter. */
export type MerchantBrowseFilter = {
  /** A whole id or wallet, or a part of a name or e-mail address. */
  search?: string;
  onboarding?: (typeof onboardingStates)[number];
  /** Who has disabled the merchant. */
  disabled?: (typeof switches)[number];
};

/** `after`: id of the last merchant of the previous page; any other value begins at the newest. */
export type MerchantPosition = { after: string | null; limit: number };

/** Merchants of a scope, newest first. */
export async function selectBrowsedMerchants(
  tx: Tx,
  scope: Scope,
  { search, onboarding, disabled }: MerchantBrowseFilter,
  { after, limit }: MerchantPosition,
): Promise<MerchantRow[]> {
  const own = tx`m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode}`;
  const [last] = isUuid(after)
    ? await tx<Place[]>`select m.created_at::text as at, m.id from merchants m where ${own} and m.id = ${after}`
    : [];
  const states: MerchantStates = {
    ...(onboarding && { onboarded: onboarding === 'complete' }),
    ...(disabled && { disabled }),
  };
  const ids = search === undefined ? null : await selectFound(tx, search.toLowerCase(), states, last, limit);
  const rest = tx`${own} ${last ? tx`and (m.created_at, m.id) < (${last.at}::text::timestamptz, ${last.id})` : tx``}`;
  const place = tx`order by created_at desc, id desc limit ${limit}`;
  if (ids === null) return tx<MerchantRow[]>`${unionBranches(tx, statesApart(tx, states, rest), place)}`;
  // Found merchants are read first: in the list's order, the planner could read all others before them.
  return tx<MerchantRow[]>`
    with named as materialized (select m.* from merchants m where ${own} and m.id = any(${ids}::uuid[]))
    ${unionBranches(tx, statesApart(tx, states, rest, tx`named`), place)}`;
}

/** The last merchant of the previous page. `at` is its time as the database writes it, in full precision. */
type Place = { at: string; id: string };

/** The ids that a search finds: a whole id or wallet, or otherwise a part of a name or e-mail address. */
async function selectFound(
  tx: Tx,
  text: string,
  { onboarded, disabled }: MerchantStates,
  last: Place | undefined,
  limit: number,
): Promise<string[]> {
  const [isNumber, isWallet]: boolean[] = [isUuid(text), isAddress(text)];
  if (isNumber) return [text];
  const off = (by: 'partner' | 'operator') => (disabled === by ? [1] : disabled === 'none' ? [0] : [0, 1]);
  const done = onboarded === undefined ? [0, 1] : [Number(onboarded)];
  const rows = isWallet
    ? await tx<{ id: string }[]>`select account_id as id from wallets where address = ${text}`
    : await tx<{ id: string }[]>`
        select find_merchants(${containsPattern(text)}, ${done}::int[], ${off('partner')}::int[],
          ${off('operator')}::int[], ${last?.at ?? null}::text::timestamptz, ${last?.id ?? null}, ${limit}) as id`;
  return rows.map(({ id }) => id);
}
