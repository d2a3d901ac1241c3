import type { Hex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { theService } from '../../../src/audit/write.ts';
import type { Context } from '../../../src/context.ts';
import type { Scope } from '../../../src/db/connection.ts';
import { createShell } from '../../../src/merchants/create.ts';
import { onboardWithKey } from '../../../src/sandbox/onboard.ts';
import type { Visit } from './forms.ts';
import { startVisitor, type Visitor } from './visitor.ts';

/** A merchant that has gone through onboarding, with its wallet's key. */
export type Onboarded = { id: string; account: PrivateKeyAccount; privateKey: Hex; wallet: string };

export const newAccount = () => privateKeyToAccount(generatePrivateKey());

export async function makeOnboarded(
  ctx: Context,
  scope: Scope,
  details: Record<string, string> = {},
): Promise<Onboarded> {
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key);
  const { id } = await createShell(ctx, theService, scope, {
    display_currency: 'EUR',
    business_name: 'Ada’s Bakery',
    ...details,
  });
  await onboardWithKey(ctx, id, key);
  return { id, account, privateKey: key, wallet: account.address.toLowerCase() };
}

/** The message that a page asks the wallet to sign. */
export function messageOn(page: Visit): string {
  const form = page.forms.find(({ fields }) => fields.message !== undefined);
  return form?.fields.message?.replaceAll('\r\n', '\n') ?? '';
}

/** Signs the message on a page by hand and sends its form. */
export async function signOn(
  visitor: Visitor,
  page: Visit,
  account: PrivateKeyAccount,
  typed: Record<string, string> = {},
): Promise<Visit> {
  const form = page.forms.find(({ fields }) => fields.message !== undefined);
  const signature = await account.signMessage({ message: messageOn(page) });
  return visitor.send(page, form?.action ?? 'a form with a message', { signature, ...typed });
}

/** A browser in which a merchant is signed in, and the dashboard it sees. */
export async function signInMerchant(
  url: string,
  account: PrivateKeyAccount,
  headers: Record<string, string> = {},
): Promise<{ visitor: Visitor; dashboard: Visit }> {
  const visitor = startVisitor(url, headers);
  const start = await visitor.open('/dashboard/sign-in');
  const page = await visitor.send(start, '/wallet', { wallet_address: account.address });
  return { visitor, dashboard: await signOn(visitor, page, account) };
}
