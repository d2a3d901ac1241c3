import { audit } from '../audit/write.ts';
import type { Client } from '../auth/client.ts';
import {
  type AskedWallet,
  makeWalletMessage,
  proveMessage,
  type SignedMessageInput,
  useWalletMessage,
  type WalletRequest,
} from '../auth/siwe.ts';
import type { Context } from '../context.ts';
import { keepDetails, keepOnboarded, type OnboardingDetails } from '../merchants/onboarding-state.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { isKnownCurrency } from '../rates/read.ts';
import type { Language } from '../ui/language.ts';
import { claimingWallet } from '../wallets/claim.ts';
import { limitQueriesFor } from '../wallets/query-limits.ts';
import { chainsOf, readWallet, type TypedWallet } from '../wallets/typed-wallet.ts';
import { passedEmail } from './code.ts';
import { assertOpen, type OpenOnboarding, openLink } from './link.ts';
import {
  deleteCode,
  deleteProgress,
  lockOnboarding,
  type OnboardingRow,
  updateChosenWallet,
  upsertProgress,
} from './store.ts';
import { terms } from './terms.ts';

/** The message with which a wallet becomes a merchant's wallet and its owner accepts the terms. */
function onboardingRequest({ id }: Pick<OnboardingRow, 'id'>): WalletRequest {
  const statement = `I receive payments at this wallet as merchant ${id} and accept the terms in version ${terms.version}.`;
  return { path: '/onboard', statement };
}

/**
 * Opens a link in a browser in which the e-mail code was entered, if one is required.
 *
 * @throws MerchantRefusal of the link; email_code_needed
 */
async function openChecked(ctx: Context, token: string, emailPass: string | null): Promise<OpenOnboarding> {
  const open = await openLink(ctx, token);
  if (!passedEmail(ctx, open.row, emailPass)) throw new MerchantRefusal('email_code_needed');
  return open;
}

export type DetailsInput = {
  token: string;
  emailPass: string | null;
  details: OnboardingDetails;
  /** The merchant's address, if the partner gave none. */
  email: string | null;
  /** ISO 4217; null leaves the one that the partner set. */
  currency: string | null;
};

/**
 * Stores the details, so that the merchant can continue after a reload or on another device.
 *
 * @throws MerchantRefusal of the link; email_code_needed; details_invalid for a currency without a rate
 */
export async function submitDetails(ctx: Context, input: DetailsInput): Promise<void> {
  const { token, emailPass, details, email, currency } = input;
  const { scope, row } = await openChecked(ctx, token, emailPass);
  if (currency !== null && currency !== row.display_currency && !(await isKnownCurrency(ctx.db, currency))) {
    throw new MerchantRefusal('details_invalid', { display_currency: 'notACurrency' });
  }
  await ctx.db.scoped(scope, async (tx) => {
    const current = await lockOnboarding(tx, scope, row.id);
    if (!current) throw new MerchantRefusal('link_unknown');
    assertOpen(current, row.onboarding_epoch); // it may have been reset, or completed, since this call began
    await keepDetails(tx, scope, row.id, details, currency);
    await upsertProgress(tx, scope, row.id, { email: row.email === null ? email : null, now: ctx.clock.now() });
  });
}

/** `chainId`: the network on which the wallet signs; null for the first of the mode. */
export type OnboardingChoice = TypedWallet & { token: string; emailPass: string | null };

/**
 * Stores the wallet at which the merchant wants to be paid. Nothing is claimed before the wallet has signed.
 *
 * @throws MerchantRefusal of the link; email_code_needed, wallet_malformed, wallet_differs, chain_unknown
 */
export async function chooseWallet(ctx: Context, choice: OnboardingChoice): Promise<AskedWallet> {
  const { scope, row } = await openChecked(ctx, choice.token, choice.emailPass);
  const wallet = readWallet(chainsOf(ctx, row), choice);
  assertAnnounced(row, wallet.address);
  await ctx.db.scoped(scope, (tx) => updateChosenWallet(tx, scope, row.id, wallet));
  return wallet;
}

function assertAnnounced(row: OnboardingRow, address: string): void {
  if (row.wallet_address !== null && row.wallet_address !== address) throw new MerchantRefusal('wallet_differs');
}

/** The message for a wallet to sign, a new one each time. */
export function onboardingMessage(ctx: Context, row: Pick<OnboardingRow, 'id'>, wallet: AskedWallet): string {
  return makeWalletMessage(ctx, onboardingRequest(row), wallet);
}

export type Complete = SignedMessageInput & {
  token: string;
  emailPass: string | null;
  acceptTerms: boolean;
  /** The language in which the merchant read the pages, and is mailed; null if nobody read any. */
  language: Language | null;
  /** IP address and browser of whoever accepts the terms. */
  client: Client;
};

/**
 * Completes onboarding: the wallet has signed, the terms are accepted, the merchant can be paid. After the chains were
 * queried, one transaction consumes the message, claims the wallet platform-wide and completes the merchant.
 *
 * @throws MerchantRefusal of the link, the e-mail code, the terms, the message, the signature or the wallet
 */
export async function completeOnboarding(
  ctx: Context,
  complete: Complete,
): Promise<{ account_id: string; wallet_address: string }> {
  const { scope, row } = await openChecked(ctx, complete.token, complete.emailPass);
  if (!complete.acceptTerms) throw new MerchantRefusal('terms_not_accepted');

  const mayQuery = limitQueriesFor(`onboard/${row.id}`);
  const signed = await proveMessage(ctx, onboardingRequest(row), chainsOf(ctx, row), complete, mayQuery);
  if (typeof signed === 'string') throw new MerchantRefusal(signed);
  const { address, chainIds } = signed;
  assertAnnounced(row, address);

  const now = ctx.clock.now();
  await claimingWallet(ctx, scope, async (tx, claim) => {
    const current = await lockOnboarding(tx, scope, row.id);
    if (!current) throw new MerchantRefusal('link_unknown');
    assertOpen(current, row.onboarding_epoch);
    assertAnnounced(current, address);
    // A code does not prove an address that was set after this call began.
    if (current.email !== row.email) throw new MerchantRefusal('email_code_needed');
    if (!(await useWalletMessage(tx, signed, now))) throw new MerchantRefusal('message_used');
    await claim(row.id, address, now);
    await keepOnboarded(tx, scope, row.id, {
      walletAddress: address,
      walletChainIds: chainIds,
      email: current.given_email,
      emailChecked: row.email !== null,
      termsVersion: terms.version,
      fromAddress: complete.client.ip,
      language: complete.language,
      now,
    });
    await deleteCode(tx, scope, row.id);
    await deleteProgress(tx, scope, row.id);
    await audit(
      ctx,
      tx,
      { kind: 'merchant', accountId: row.id, walletAddress: address, ...complete.client },
      {
        ...scope,
        action: 'merchant.onboarded',
        object: { kind: 'merchant', id: row.id },
        details: { wallet: address, terms_version: terms.version },
      },
    );
  });
  return { account_id: row.id, wallet_address: address };
}
