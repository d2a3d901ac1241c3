import type { Scope, Sql, Tx } from '../db/connection.ts';
import { setIdleTimeout } from '../db/idle-timeout.ts';
import { identifiers, type Statement, type Tag } from '../db/sql.ts';
import { unionBranches } from '../db/union-branches.ts';
import { quoteOf } from '../rates/quote.ts';
import { type MerchantStates, statesApart } from './in-states.ts';

export type MerchantRow = {
  partner_id: string;
  test_mode: boolean;
  id: string;
  email: string | null;
  display_name: string | null;
  business_name: string | null;
  country: string | null;
  phone: string | null;
  website: string | null;
  instagram: string | null;
  industry: string | null;
  app_mode: 'personal' | 'business';
  display_currency: string;
  wallet_address: string | null;
  wallet_signed_at: Date | null;
  wallet_chain_ids: number[] | null;
  /**
   * A wallet that was only claimed, until another merchant signed for it; null once the merchant has signed with one.
   */
  displaced_wallet: string | null;
  displaced_at: Date | null;
  onboarded_at: Date | null;
  onboarding_epoch: number;
  email_checked_at: Date | null;
  terms_version: string | null;
  terms_accepted_at: Date | null;
  terms_accepted_from: string | null;
  disabled_by_partner: boolean;
  disabled_by_operator: boolean;
  created_at: Date;
};

/** A merchant with its partner's slug and name. */
export type MerchantView = MerchantRow & { home_portal: string; partner_name: string; partner_disabled: boolean };

export type NewMerchant = Partial<
  Pick<
    MerchantRow,
    | 'email'
    | 'display_name'
    | 'business_name'
    | 'country'
    | 'phone'
    | 'website'
    | 'instagram'
    | 'industry'
    | 'wallet_address'
  >
> &
  Pick<MerchantRow, 'app_mode' | 'display_currency'>;

/**
 * Stores a merchant in one statement; false if its wallet was taken in the meantime. In a longer transaction it holds
 * the wallet until commit, so the transaction must not idle after it. The commit takes the partner's clock.
 */
export async function insertMerchant(sql: Tx, scope: Scope, id: string, merchant: NewMerchant): Promise<boolean> {
  const rows = await sql`
    select id, ${setIdleTimeout(sql)} from create_merchant(${scope.partnerId}, ${scope.testMode}, ${id}, ${JSON.stringify(merchant)})`;
  return rows.length > 0;
}

const view = (tx: Tx, scope: Scope) => tx`
  select m.*, p.slug as home_portal, p.name as partner_name, p.disabled_at is not null as partner_disabled
  from merchants m join partners p on p.id = m.partner_id
  where m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode}`;

/** A merchant of the scope with its partner's slug and name; null for an unknown id. The id must be a UUID. */
export async function selectMerchant(tx: Tx, scope: Scope, id: string): Promise<MerchantView | null> {
  const [row] = await tx<MerchantView[]>`${view(tx, scope)} and m.id = ${id}`;
  return row ?? null;
}

export type MerchantFilter = { complete?: boolean; disabled?: boolean; limit: number; offset: number };

/** One page, oldest first, with one row more than `limit`. */
export function selectMerchants(sql: Tag, scope: Scope, filter: MerchantFilter): Statement<MerchantView[]> {
  const { complete, disabled } = filter;
  const states: MerchantStates = {
    ...(complete !== undefined && { onboarded: complete }),
    ...(disabled !== undefined && { disabled: disabled ? 'either' : 'none' }),
  };
  const own = sql`m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode}`;
  const { limit, offset } = filter;
  const list = unionBranches(
    sql,
    statesApart(sql, states, own),
    sql`order by created_at, id limit ${offset + limit + 1}`,
  );
  return sql<MerchantView[]>`
    with partner as materialized (select slug, name, disabled_at from partners where id = ${scope.partnerId})
    select m.*, p.slug as home_portal, p.name as partner_name, p.disabled_at is not null as partner_disabled
    from (select * from (${list}) list order by created_at, id limit ${limit + 1} offset ${offset}) m cross join partner p
    order by m.created_at, m.id`;
}

/** Sets one of the two switches; false if it already has the value, or there is no such merchant. */
export async function updateDisabled(
  tx: Tx,
  scope: Scope,
  { accountId, by, disabled }: { accountId: string; by: 'partner' | 'operator'; disabled: boolean },
): Promise<boolean> {
  const column = identifiers(`disabled_by_${by}`);
  const { count } = await tx`
    update merchants set ${column} = ${disabled}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId}
      and ${column} <> ${disabled}`;
  return count === 1;
}

/**
 * Column for the gate's statement: what a create of a request needs to know about a merchant of the calling partner, in
 * either mode.
 */
export function merchantFacts(sql: Sql, accountId: string | null) {
  return sql`
    (select jsonb_build_object('test_mode', m.test_mode, 'onboarded', m.onboarded_at is not null, 'wallet', m.wallet_address,
        'wallet_chain_ids', m.wallet_chain_ids, 'disabled', m.disabled_by_partner or m.disabled_by_operator, 'currency', m.display_currency,
        'quote', ${quoteOf(sql, sql`m.display_currency`)})
      from merchants m where m.partner_id = key.partner_id and m.id = ${accountId}::uuid) as merchant`;
}

/** Column for the gate's statement: who holds a wallet, across the platform. */
export function walletFacts(sql: Sql, address: string | null) {
  return sql`
    (select jsonb_build_object('partner_id', w.partner_id, 'test_mode', w.test_mode, 'account_id', w.account_id)
      from wallets w where w.address = ${address}) as holder`;
}

/** Who holds a wallet now, across the platform. */
export async function selectWalletHolder(sql: Sql, address: string): Promise<WalletHolder | null> {
  const [row] = await sql<
    WalletHolder[]
  >`select partner_id, test_mode, account_id from wallets where address = ${address}`;
  return row ?? null;
}

export type WalletHolder = { partner_id: string; test_mode: boolean; account_id: string };
