import { type Hex, isHex, size } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { latestMail } from '../mail/outbox.ts';
import { beginOnboarding, completeOnboarding } from './onboard.ts';
import { sendEmailCode } from './onboarding-code.ts';
import { openLink } from './onboarding-link.ts';
import { OnboardingRefusal } from './onboarding-refusal.ts';
import { makeOnboardingToken } from './onboarding-token.ts';
import { readMerchant } from './read.ts';

/**
 * The sandbox's merchant: walks through onboarding as the page does, with a key at hand.
 *
 * @param privateKey 0x and 64 hex digits; a random one when absent
 * @throws Error when the merchant does not exist; OnboardingRefusal as the page does
 */
export async function onboardWithKey(
  ctx: Context,
  accountId: string,
  privateKey: Hex = generatePrivateKey(),
): Promise<{ account_id: string; wallet_address: string }> {
  if (!ctx.config.sandbox) throw new Error('Only a sandbox onboards merchants by command.');
  if (!isHex(privateKey) || size(privateKey) !== 32) throw new Error('A private key is 0x and 64 hex digits.');
  const scope = await scopeOfMerchant(ctx.db, accountId);
  const merchant = scope && (await readMerchant(ctx, scope, accountId));
  if (!merchant) throw new Error(`There is no merchant ${accountId}.`);
  const token = makeOnboardingToken(ctx.config.secretKeys, merchant, ctx.clock.now());
  const emailCode = await mailedCode(ctx, token);
  const account = privateKeyToAccount(privateKey);
  const begin = { token, address: account.address, chainId: null, emailCode, details: null };
  const { message } = await beginOnboarding(ctx, begin);
  const signature = await account.signMessage({ message });
  const fromAddress = '127.0.0.1';
  return completeOnboarding(ctx, { token, message, signature, acceptTerms: true, emailCode, fromAddress });
}

/** Has a code mailed and reads it where the sandbox's mails stay; undefined for a merchant without e-mail. */
async function mailedCode(ctx: Context, token: string): Promise<string | undefined> {
  const { row } = await openLink(ctx, token);
  if (row.email === null) return undefined;
  try {
    await sendEmailCode(ctx, token);
  } catch (error) {
    // The newest code still counts.
    if (!(error instanceof OnboardingRefusal && error.reason === 'email_code_just_sent')) throw error;
  }
  const mail = await latestMail(ctx.db.sql, row.email);
  return mail?.subject.match(/^\d{6}/)?.[0];
}
