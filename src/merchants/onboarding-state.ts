import type { Scope, Tx } from '../db/connection.ts';

// Changes that onboarding and wallet changes make to a merchant's row, each in its caller's transaction.

/** The details that a merchant can give during onboarding. */
export type OnboardingDetails = {
  display_name: string | null;
  business_name: string | null;
  country: string | null;
  phone: string | null;
  website: string | null;
};

/**
 * Stores the details of a merchant that has not completed its onboarding.
 *
 * @param currency the merchant's choice; null leaves the one that its partner set
 */
export async function keepDetails(
  tx: Tx,
  scope: Scope,
  accountId: string,
  details: OnboardingDetails,
  currency: string | null,
): Promise<void> {
  await tx`
    update merchants set display_name = ${details.display_name}, business_name = ${details.business_name},
      country = ${details.country}, phone = ${details.phone}, website = ${details.website},
      display_currency = coalesce(${currency}, display_currency)
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId}
      and onboarded_at is null`;
}

export type Completion = {
  walletAddress: string;
  walletChainIds: number[] | null;
  email: string | null;
  emailChecked: boolean;
  termsVersion: string;
  fromAddress: string;
  language: string | null;
  now: Date;
};

/** Completes a merchant whose wallet has signed and whose owner has accepted the terms. */
export async function keepOnboarded(tx: Tx, scope: Scope, accountId: string, c: Completion): Promise<void> {
  await tx`
    update merchants set wallet_address = ${c.walletAddress}, wallet_signed_at = ${c.now},
      wallet_chain_ids = ${c.walletChainIds}, onboarded_at = ${c.now}, email = coalesce(email, ${c.email}),
      email_checked_at = ${c.emailChecked ? c.now : null}, terms_version = ${c.termsVersion},
      terms_accepted_at = ${c.now}, terms_accepted_from = ${c.fromAddress}, language = ${c.language},
      displaced_wallet = null, displaced_at = null
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId}`;
}

/** Locks a merchant against concurrent creates: their foreign key waits for this lock. */
export async function lockForReset(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<void> {
  await tx`
    select from merchants where partner_id = ${partnerId} and test_mode = ${testMode} and id = ${accountId} for update`;
}

/**
 * Undoes a merchant's onboarding, and invalidates older links. Its details stay, but not an e-mail address that nobody
 * has proved: whoever had an older link may have typed it, and the next onboarding would ask for a code sent there.
 */
export async function undoOnboarding(tx: Tx, { partnerId, testMode }: Scope, accountId: string): Promise<void> {
  await tx`
    update merchants set wallet_address = null, wallet_signed_at = null, wallet_chain_ids = null, onboarded_at = null,
      email = case when onboarded_at is null or email_checked_at is not null then email end, email_checked_at = null,
      terms_version = null, terms_accepted_at = null, terms_accepted_from = null, language = null,
      onboarding_epoch = onboarding_epoch + 1
    where partner_id = ${partnerId} and test_mode = ${testMode} and id = ${accountId}`;
}

/** Replaces a merchant's wallet. */
export async function moveWallet(
  tx: Tx,
  scope: Scope,
  accountId: string,
  wallet: { address: string | null; chainIds: readonly number[] | null; signedAt: Date | null },
): Promise<void> {
  await tx`
    update merchants set wallet_address = ${wallet.address}, wallet_chain_ids = ${wallet.chainIds},
      wallet_signed_at = ${wallet.signedAt}
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and id = ${accountId}`;
}
