import type { Database, Scope, Sql, Tx } from '../db/connection.ts';

/**
 * Records in the platform's registry that a wallet has signed. The signature displaces an unsigned claim of another
 * partner or mode, but not one of the same.
 *
 * @returns whose claim was displaced, if any; null if another merchant has the wallet
 */
export async function claimSignedWallet(
  tx: Tx,
  scope: Scope,
  accountId: string,
  address: string,
  now: Date,
): Promise<{ displaced: UnsignedWallet | null } | null> {
  const { partnerId, testMode } = scope;
  const own = await tx`
    update wallets set signed_at = ${now} where partner_id = ${partnerId} and test_mode = ${testMode}
      and address = ${address} and account_id = ${accountId} returning address`;
  if (own.length === 1) return { displaced: null };
  const [displaced] = await freeUnsigned(tx, address, null, scope);
  const claimed = await tx`
    insert into wallets (address, partner_id, test_mode, account_id, claimed_at, signed_at)
    values (${address}, ${partnerId}, ${testMode}, ${accountId}, ${now}, ${now})
    on conflict do nothing returning address`;
  return claimed.length === 1 ? { displaced: displaced ?? null } : null;
}

/** A wallet that was claimed for a merchant but never signed for. */
export type UnsignedWallet = { partner_id: string; test_mode: boolean; account_id: string; address: string };

/** The loop's lookup over all scopes: unsigned wallets that were claimed before a time, oldest first, without some. */
export function selectUnsignedWallets(
  { sql }: Database,
  { claimedBefore, except, limit }: { claimedBefore: Date; except: readonly string[]; limit: number },
) {
  return sql<UnsignedWallet[]>`
    select partner_id, test_mode, account_id, address from wallets
    where signed_at is null and claimed_at < ${claimedBefore} and address <> all(${[...except]}::text[])
    order by claimed_at limit ${limit}`;
}

/**
 * Frees a wallet that was claimed but never signed for; null if it is not one. A concurrent signature either comes
 * first and keeps the wallet, or finds it free.
 *
 * @param claimedBefore null: a claim of any age
 */
export async function deleteUnsignedWallet(
  tx: Tx | Sql,
  address: string,
  claimedBefore: Date | null,
): Promise<UnsignedWallet | null> {
  const [freed] = await freeUnsigned(tx, address, claimedBefore, null);
  return freed ?? null;
}

function freeUnsigned(tx: Tx | Sql, address: string, claimedBefore: Date | null, signer: Scope | null) {
  return tx<UnsignedWallet[]>`
    select * from free_unsigned_wallet(${address}, ${claimedBefore}, ${signer?.partnerId ?? null},
      ${signer?.testMode ?? null})`;
}
