import { isHex, size } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { latestMail } from '../mail/outbox.ts';
import { makeOnboardingToken } from '../merchants/onboarding-token.ts';
import { readMerchant } from '../merchants/read.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { enterEmailCode, sendEmailCode } from '../onboarding/code.ts';
import { openLink } from '../onboarding/link.ts';
import { chooseWallet, completeOnboarding, onboardingMessage } from '../onboarding/onboard.ts';
import { wordsOf } from '../ui/language.ts';

/**
 * Completes a merchant's onboarding as the page does, with the key of a wallet.
 *
 * @param privateKey 0x and 64 hex digits; random by default
 * @throws Error outside a sandbox, for a malformed key or an unknown merchant; MerchantRefusal as the page does
 */
export async function onboardWithKey(
  ctx: Context,
  accountId: string,
  privateKey: string = generatePrivateKey(),
): Promise<{ account_id: string; wallet_address: string }> {
  if (!ctx.config.sandbox) throw new Error('Only a sandbox can onboard merchants by command.');
  if (!isHex(privateKey) || size(privateKey) !== 32) throw new Error('A private key is 0x and 64 hex digits.');
  const scope = await scopeOfMerchant(ctx.db, accountId);
  const merchant = scope && (await readMerchant(ctx, scope, accountId));
  if (!merchant) throw new Error(`There is no merchant ${accountId}.`);
  const token = makeOnboardingToken(ctx.config.secretKeys, merchant, ctx.clock.now());
  const emailPass = await passByMail(ctx, token);
  const account = privateKeyToAccount(privateKey);
  const wallet = await chooseWallet(ctx, { token, emailPass, address: account.address, chainId: null, host: null });
  const message = onboardingMessage(ctx, merchant, wallet);
  const signature = await account.signMessage({ message });
  const client = { ip: '127.0.0.1', userAgent: undefined };
  const accepted = { acceptTerms: true, language: null, client };
  return completeOnboarding(ctx, { token, emailPass, message, signature, host: null, ...accepted });
}

/** Has a code mailed, reads it from the stored mails, and enters it; null for a merchant without an e-mail address. */
async function passByMail(ctx: Context, token: string): Promise<string | null> {
  const { row } = await openLink(ctx, token);
  if (row.email === null) return null;
  try {
    await sendEmailCode(ctx, token, wordsOf('en'));
  } catch (error) {
    // The code that was just sent is still valid.
    if (!(error instanceof MerchantRefusal && error.reason === 'email_code_just_sent')) throw error;
  }
  const mail = await latestMail(ctx.db.sql, row.email);
  return enterEmailCode(ctx, token, mail?.subject.match(/^\d{6}/)?.[0] ?? '');
}
