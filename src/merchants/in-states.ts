import type { Fragment, Tag } from '../db/sql.ts';

/**
 * Filters of merchants by state; absent ones do not filter. `either`: disabled by the partner or the operator. `any`:
 * all merchants, read state by state.
 */
export type MerchantStates = { onboarded?: boolean; disabled?: 'partner' | 'operator' | 'none' | 'either' | 'any' };

const switches = [
  { partner: false, operator: false },
  { partner: true, operator: false },
  { partner: false, operator: true },
  { partner: true, operator: true },
];

function isMeant({ partner, operator }: (typeof switches)[number], disabled: MerchantStates['disabled']): boolean {
  if (disabled === undefined || disabled === 'any') return true;
  if (disabled === 'partner') return partner;
  if (disabled === 'operator') return operator;
  return (partner || operator) === (disabled === 'either');
}

/**
 * One query of merchants `m` for each state, because each state has an index of its own.
 *
 * @param own conditions that all queries share
 * @param source what is read instead of the whole table
 */
export function statesApart(
  sql: Tag,
  { onboarded, disabled }: MerchantStates,
  own: Fragment,
  source: Fragment = sql`merchants`,
): Fragment[] {
  const all = sql`select m.* from ${source} m where ${own}`;
  if (onboarded === undefined && disabled === undefined) return [all];
  return (onboarded === undefined ? [true, false] : [onboarded]).flatMap((done) =>
    switches
      .filter((one) => isMeant(one, disabled))
      .map(
        ({ partner, operator }) => sql`${all} and ${stateOf(sql)} = ${done ? 1 : 0}
          and m.disabled_by_partner = ${partner} and m.disabled_by_operator = ${operator}`,
      ),
  );
}

/** The expression of the indexes. The planner would rewrite a plain condition before it looks for an index. */
const stateOf = (sql: Tag) => sql`(case when m.onboarded_at is null then 0 else 1 end)`;
