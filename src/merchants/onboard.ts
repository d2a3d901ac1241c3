import { proveWallet, readSignIn, signInMessage, withPlainLineEnds } from '../auth/siwe.ts';
import type { ChainConfig } from '../chain/config.ts';
import type { Context } from '../context.ts';
import { randomBase62 } from '../lib/base62.ts';
import { isAddress } from '../lib/ids.ts';
import { checkEmailCode } from './onboarding-code.ts';
import { assertOpen, openLink } from './onboarding-link.ts';
import { OnboardingRefusal } from './onboarding-refusal.ts';
import type { OnboardingDetails } from './onboarding-store.ts';
import {
  claimSignedWallet,
  deleteCode,
  insertNonce,
  lockOnboarding,
  type OnboardingRow,
  selectNonce,
  updateCompleted,
  updateDetails,
  updateNonceUsed,
} from './onboarding-store.ts';
import { terms } from './terms.ts';

export { releaseStaleWallets, releaseWallet, resetOnboarding } from './onboarding-release.ts';

/** How long a message may wait for its signature. */
const messageMs = 15 * 60_000;

/** The chains a merchant of this mode can be paid on. */
export function chainsOf(ctx: Context, row: Pick<OnboardingRow, 'test_mode'>): ChainConfig[] {
  return ctx.chains[row.test_mode ? 'test' : 'live'];
}

/** The one text that a wallet signs for a merchant; all of it follows from what the service knows and has kept. */
function messageFor(
  ctx: Context,
  accountId: string,
  wallet: { address: string; chainId: number },
  nonce: { value: string; expiresAt: Date },
): string {
  return signInMessage({
    baseUrl: ctx.config.baseUrl,
    accountId,
    ...wallet,
    nonce: nonce.value,
    termsVersion: terms.version,
    issuedAt: new Date(nonce.expiresAt.getTime() - messageMs),
    expiresAt: nonce.expiresAt,
  });
}

export type Begin = {
  token: string;
  address: string;
  /** The network the wallet signs in on; the first of the mode when null. */
  chainId: number | null;
  emailCode?: string | undefined;
  details: OnboardingDetails | null;
};

/**
 * Keeps the details and makes the message that the wallet signs, with a single-use number.
 *
 * @throws OnboardingRefusal of the link, the e-mail code, the address or the network
 */
export async function beginOnboarding(ctx: Context, begin: Begin): Promise<{ row: OnboardingRow; message: string }> {
  const { scope, row } = await openLink(ctx, begin.token);
  await checkEmailCode(ctx, scope, row, begin.emailCode);
  if (!isAddress(begin.address)) throw new OnboardingRefusal('wallet_malformed');
  const address = begin.address.toLowerCase();
  assertAnnounced(row, address);
  const chains = chainsOf(ctx, row);
  const chainId = begin.chainId ?? chains[0]?.chainId;
  if (chainId === undefined || !chains.some((chain) => chain.chainId === chainId)) {
    throw new OnboardingRefusal('chain_unknown');
  }
  const now = ctx.clock.now();
  const nonce = { value: randomBase62(22), now, expiresAt: new Date(now.getTime() + messageMs) };
  const { details } = begin;
  await ctx.db.scoped(scope, async (tx) => {
    if (details) await updateDetails(tx, scope, row.id, details);
    await insertNonce(tx, scope, row.id, nonce);
  });
  return { row: { ...row, ...details }, message: messageFor(ctx, row.id, { address, chainId }, nonce) };
}

function assertAnnounced(row: OnboardingRow, address: string): void {
  if (row.wallet_address !== null && row.wallet_address !== address) throw new OnboardingRefusal('wallet_differs');
}

export type Complete = {
  token: string;
  message: string;
  signature: string;
  acceptTerms: boolean;
  emailCode?: string | undefined;
  /** Given by the merchant where the partner gave none. */
  email?: string | null;
  /** Internet address of who accepts the terms. */
  fromAddress: string;
};

/**
 * Finishes onboarding: the wallet has signed, the terms are accepted, the merchant can be paid. All in one transaction,
 * after the chains were asked: number used up, wallet claimed over the whole platform, merchant complete.
 *
 * @throws OnboardingRefusal of the link, the e-mail code, the terms, the message, the signature or the wallet
 */
export async function completeOnboarding(
  ctx: Context,
  complete: Complete,
): Promise<{ account_id: string; wallet_address: string }> {
  const { scope, row } = await openLink(ctx, complete.token);
  await checkEmailCode(ctx, scope, row, complete.emailCode);
  if (!complete.acceptTerms) throw new OnboardingRefusal('terms_not_accepted');

  const message = withPlainLineEnds(complete.message);
  const signIn = readSignIn(message);
  if (!signIn) throw new OnboardingRefusal('message_changed');
  const { address, nonce } = signIn;
  const kept = await ctx.db.scoped(scope, (tx) => selectNonce(tx, scope, row.id, nonce, ctx.clock.now()));
  if (!kept) throw new OnboardingRefusal('message_used');
  const chains = chainsOf(ctx, row);
  const offered = chains.some(({ chainId }) => chainId === signIn.chainId);
  if (!offered || message !== messageFor(ctx, row.id, signIn, { value: nonce, expiresAt: kept.expiresAt })) {
    throw new OnboardingRefusal('message_changed');
  }
  assertAnnounced(row, address);
  const proof = await proveWallet(chains, address, message, complete.signature.trim());
  if (!proof.valid) throw new OnboardingRefusal(proof.reason);

  const now = ctx.clock.now();
  await ctx.db.scoped(scope, async (tx) => {
    const current = await lockOnboarding(tx, scope, row.id);
    if (!current) throw new OnboardingRefusal('link_unknown');
    assertOpen(current, row.onboarding_epoch);
    assertAnnounced(current, address);
    // An address that came after the code was asked for was not checked by it.
    if (current.email !== row.email) throw new OnboardingRefusal('email_code_needed');
    if (!(await updateNonceUsed(tx, scope, row.id, nonce, now))) throw new OnboardingRefusal('message_used');
    if (!(await claimSignedWallet(tx, scope, row.id, address, now))) throw new OnboardingRefusal('wallet_taken');
    await updateCompleted(tx, scope, row.id, {
      walletAddress: address,
      walletChainIds: proof.chainIds,
      email: complete.email ?? null,
      emailChecked: row.email !== null,
      termsVersion: terms.version,
      fromAddress: complete.fromAddress,
      now,
    });
    await deleteCode(tx, scope, row.id);
  });
  return { account_id: row.id, wallet_address: address };
}
