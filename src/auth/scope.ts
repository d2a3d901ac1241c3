import type { Database, Scope } from '../db/connection.ts';

/** Makes the scope of one partner and mode. Only for code that has verified the caller, and for the lookups below. */
export function scopeOf(partnerId: string, testMode: boolean): Scope {
  return { partnerId, testMode } as Scope;
}

type ScopeRow = { partner_id: string; test_mode: boolean };

/** For loops: the scope of a row returned by a named lookup over all partners. */
export function scopeOfRow(row: ScopeRow): Scope {
  return scopeOf(row.partner_id, row.test_mode);
}

const fromRow = (row: ScopeRow | undefined): Scope | null => (row ? scopeOfRow(row) : null);

/** For public pages and loops: the scope of a request; null when there is no such request. */
export async function scopeOfRequest(db: Database, requestId: string): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`select partner_id, test_mode from requests where id = ${requestId}`;
  return fromRow(row);
}

/** For onboarding and operators: the scope of a merchant; null when there is no such merchant. */
export async function scopeOfMerchant(db: Database, accountId: string): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`select partner_id, test_mode from merchants where id = ${accountId}`;
  return fromRow(row);
}

/** For signing in: the merchant that is paid at a wallet; null if nobody has signed for the wallet. */
export async function scopeOfWallet(
  db: Database,
  address: string,
): Promise<{ scope: Scope; accountId: string } | null> {
  const [row] = await db.sql<(ScopeRow & { account_id: string })[]>`
    select w.partner_id, w.test_mode, w.account_id from wallets w
    join merchants m on (m.partner_id, m.test_mode, m.id) = (w.partner_id, w.test_mode, w.account_id)
    where w.address = ${address} and m.wallet_address = w.address and m.onboarded_at is not null`;
  return row ? { scope: scopeOfRow(row), accountId: row.account_id } : null;
}

/** For wallet changes: the scope of a change; null when there is no such change. */
export async function scopeOfWalletChange(db: Database, changeId: string): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`select partner_id, test_mode from wallet_changes where id = ${changeId}`;
  return fromRow(row);
}

/**
 * For operators: the scope of a webhook delivery; null if there is no such delivery. Searches the deliveries of each
 * partner, because an index by the id alone would have to be updated at each attempt.
 */
export async function scopeOfDelivery(db: Database, deliveryId: string): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`
    select d.partner_id, d.test_mode from partners p cross join (values (true), (false)) as modes (test_mode)
      join webhook_deliveries d
        on d.partner_id = p.id and d.test_mode = modes.test_mode and d.id = ${deliveryId}`;
  return fromRow(row);
}

/** For public pages and operators: the scope of a plan; null when there is no such plan. */
export async function scopeOfPlan(db: Database, planId: string): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`select partner_id, test_mode from plans where id = ${planId}`;
  return fromRow(row);
}

/** For operators: the scope of a payment; null when there is no such payment. */
export async function scopeOfTransfer(
  db: Database,
  { chainId, txHash, ordinal }: { chainId: number; txHash: string; ordinal: number },
): Promise<Scope | null> {
  const [row] = await db.sql<ScopeRow[]>`
    select partner_id, test_mode from transfers
    where chain_id = ${chainId} and tx_hash = ${txHash} and ordinal = ${ordinal}`;
  return fromRow(row);
}

/** For operators: a partner's scope by its slug; null when there is no such partner. */
export async function scopeOfPartner(db: Database, slug: string, testMode: boolean): Promise<Scope | null> {
  const [row] = await db.sql<
    ScopeRow[]
  >`select id as partner_id, ${testMode}::boolean as test_mode from partners where slug = ${slug}`;
  return fromRow(row);
}
