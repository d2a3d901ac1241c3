import type { Scope, Tx } from '../db/connection.ts';
import type { OnboardingDetails } from '../merchants/onboarding-state.ts';

/** A merchant as onboarding sees it. */
export type OnboardingRow = OnboardingDetails & {
  id: string;
  test_mode: boolean;
  email: string | null;
  wallet_address: string | null;
  onboarded_at: Date | null;
  onboarding_epoch: number;
  partner_id: string;
  partner_name: string;
  display_currency: string;
  /** What the merchant has submitted before the signature; null where nothing was. */
  details_at: Date | null;
  given_email: string | null;
  chosen_wallet: string | null;
  chosen_chain_id: string | null;
};

/** A merchant with its onboarding progress; null when the scope has no such merchant. Takes no lock. */
export async function selectOnboarding(tx: Tx, scope: Scope, accountId: string): Promise<OnboardingRow | null> {
  const [row] = await tx<OnboardingRow[]>`
    select m.id, m.test_mode, m.email, m.display_name, m.business_name, m.country, m.phone, m.website, m.display_currency, m.wallet_address,
      m.onboarded_at, m.onboarding_epoch, p.id as partner_id, p.name as partner_name, o.details_at,
      o.email as given_email, o.wallet_address as chosen_wallet, o.chain_id as chosen_chain_id
    from merchants m join partners p on p.id = m.partner_id
      left join onboarding_progress o on (o.partner_id, o.test_mode, o.account_id) = (m.partner_id, m.test_mode, m.id)
    where m.partner_id = ${scope.partnerId} and m.test_mode = ${scope.testMode} and m.id = ${accountId}`;
  return row ?? null;
}

/** As `selectOnboarding`, and locks the merchant until the transaction ends. */
export async function lockOnboarding(tx: Tx, scope: Scope, accountId: string): Promise<OnboardingRow | null> {
  await tx`select from merchants where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode}
    and id = ${accountId} for no key update`;
  return selectOnboarding(tx, scope, accountId);
}

/** Stores that the details were submitted, and an e-mail address that only counts once the merchant has signed. */
export async function upsertProgress(
  tx: Tx,
  scope: Scope,
  accountId: string,
  progress: { email: string | null; now: Date },
): Promise<void> {
  await tx`
    insert into onboarding_progress (partner_id, test_mode, account_id, details_at, email)
    values (${scope.partnerId}, ${scope.testMode}, ${accountId}, ${progress.now}, ${progress.email})
    on conflict (partner_id, test_mode, account_id) do update
      set details_at = excluded.details_at, email = excluded.email`;
}

/** Stores the wallet with which the merchant wants to sign. Does nothing before the details were submitted. */
export async function updateChosenWallet(
  tx: Tx,
  scope: Scope,
  accountId: string,
  wallet: { address: string; chainId: number },
): Promise<void> {
  await tx`
    update onboarding_progress set wallet_address = ${wallet.address}, chain_id = ${wallet.chainId}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
}

/** Deletes what the merchant has submitted before the signature. */
export async function deleteProgress(tx: Tx, scope: Scope, accountId: string): Promise<void> {
  await tx`
    delete from onboarding_progress
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
}

export type CodeRow = { code_hash: Uint8Array; attempts: number; expires_at: Date };

/** The merchant's e-mail code, locked until the transaction ends, even if it has expired; null if there is none. */
export async function selectCode(tx: Tx, scope: Scope, accountId: string): Promise<CodeRow | null> {
  const [row] = await tx<CodeRow[]>`
    select code_hash, attempts, expires_at from onboarding_codes
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId} for update`;
  return row ?? null;
}

/** Stores the hash of a new code. `attempts`: those used up on an earlier code that had not expired. */
export async function upsertCode(
  tx: Tx,
  scope: Scope,
  accountId: string,
  code: { hash: Buffer; attempts: number; expiresAt: Date },
): Promise<void> {
  await tx`
    insert into onboarding_codes (partner_id, test_mode, account_id, code_hash, attempts, expires_at)
    values (${scope.partnerId}, ${scope.testMode}, ${accountId}, ${code.hash}, ${code.attempts}, ${code.expiresAt})
    on conflict (partner_id, test_mode, account_id) do update
      set code_hash = excluded.code_hash, attempts = excluded.attempts, expires_at = excluded.expires_at`;
}

/** Sets how many wrong attempts were made on the merchant's code. */
export async function updateCodeAttempts(tx: Tx, scope: Scope, accountId: string, attempts: number): Promise<void> {
  await tx`
    update onboarding_codes set attempts = ${attempts}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
}

/** Deletes the merchant's e-mail code. */
export async function deleteCode(tx: Tx, scope: Scope, accountId: string): Promise<void> {
  await tx`
    delete from onboarding_codes
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and account_id = ${accountId}`;
}
