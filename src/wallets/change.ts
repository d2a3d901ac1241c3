import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import { takeDailyQuota } from '../auth/daily-quota.ts';
import {
  makeWalletMessage,
  proveMessage,
  type SignedMessage,
  type SignedMessageInput,
  useWalletMessage,
  type WalletRequest,
} from '../auth/siwe.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import type { MerchantView } from '../merchants/read.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { claimingWallet } from './claim.ts';
import { queueWalletNotice } from './notices.ts';
import { limitQueriesFor } from './query-limits.ts';
import { provableChains } from './sign-in.ts';
import { lockWalletOwner, type NewWallet, selectOpenChange, updateStopped, updateWallet } from './store.ts';
import { chainsOf, readWallet, type TypedWallet } from './typed-wallet.ts';

const path = '/dashboard/wallet';

const handOverRequest = (accountId: string, newWallet: string): WalletRequest => ({
  path,
  statement: `I hand over the payments of merchant ${accountId} from this wallet to ${newWallet}.`,
});
const takeOverRequest = (accountId: string, oldWallet: string): WalletRequest => ({
  path,
  statement: `I receive the payments of merchant ${accountId} at this wallet, in place of ${oldWallet}.`,
});

/** The merchant's current wallet. A signed-in merchant always has one. */
function presentWallet(merchant: MerchantView): string {
  if (merchant.wallet_address === null) throw new Error(`merchant ${merchant.id} has no wallet`);
  return merchant.wallet_address;
}

/**
 * Reads the new wallet that the merchant named.
 *
 * @throws MerchantRefusal wallet_malformed, chain_unknown, wallet_same
 */
function readNewWallet(ctx: Context, merchant: MerchantView, typed: TypedWallet) {
  const wallet = readWallet(chainsOf(ctx, merchant), typed);
  if (wallet.address === merchant.wallet_address) throw new MerchantRefusal('wallet_same');
  return wallet;
}

/** The message that the current wallet signs. It names the new one. Throws like readNewWallet. */
export function handOverMessage(ctx: Context, merchant: MerchantView, typed: TypedWallet): string {
  const { address: newWallet, chainId, host } = readNewWallet(ctx, merchant, typed);
  const wallet = { address: presentWallet(merchant), chainId, host };
  return makeWalletMessage(ctx, handOverRequest(merchant.id, newWallet), wallet);
}

/** The message that the new wallet signs. It names the current one. Throws like readNewWallet. */
export function takeOverMessage(ctx: Context, merchant: MerchantView, typed: TypedWallet): string {
  const wallet = readNewWallet(ctx, merchant, typed);
  return makeWalletMessage(ctx, takeOverRequest(merchant.id, presentWallet(merchant)), wallet);
}

/**
 * Checks that the current wallet signed the move to the new one. The message stays unused: the change itself consumes
 * it.
 *
 * @throws MerchantRefusal of the new wallet, the message or the signature
 */
export async function proveHandOver(
  ctx: Context,
  merchant: MerchantView,
  typed: TypedWallet,
  input: SignedMessageInput,
) {
  const { address: newWallet } = readNewWallet(ctx, merchant, typed);
  const request = handOverRequest(merchant.id, newWallet);
  const mayQuery = limitQueriesFor(`change/${merchant.id}`);
  const signed = await proveMessage(ctx, request, provableChains(ctx, merchant), input, mayQuery);
  if (typeof signed === 'string') throw new MerchantRefusal(signed);
  if (signed.address !== merchant.wallet_address) throw new MerchantRefusal('message_changed');
  return signed;
}

/** A change that both wallets have signed, each naming the other. Addresses are in lower case. */
export type ProvedChange = { oldWallet: string; newWallet: NewWallet; messages: SignedMessage[] };

/**
 * Checks both signatures of a change. Queries the chains, so never call it inside a transaction.
 *
 * @throws MerchantRefusal of the wallets, the messages or the signatures
 */
export async function proveChange(
  ctx: Context,
  merchant: MerchantView,
  typed: TypedWallet,
  input: { handOver: SignedMessageInput; takeOver: SignedMessageInput },
): Promise<ProvedChange> {
  const oldWallet = presentWallet(merchant);
  const byOld = await proveHandOver(ctx, merchant, typed, input.handOver);
  const { address } = readNewWallet(ctx, merchant, typed);
  const request = takeOverRequest(merchant.id, oldWallet);
  const mayQuery = limitQueriesFor(`change/${merchant.id}`);
  const byNew = await proveMessage(ctx, request, chainsOf(ctx, merchant), input.takeOver, mayQuery);
  if (typeof byNew === 'string') throw new MerchantRefusal(byNew);
  if (byNew.address !== address) throw new MerchantRefusal('message_changed');
  return { oldWallet, newWallet: { address, chainIds: byNew.chainIds }, messages: [byOld, byNew] };
}

/** Per merchant and day (UTC). Each change sends mails, and the old wallet stays claimed and watched. */
const maxChanges = 10;

/**
 * Changes a merchant's wallet at once. Open requests keep the wallet they were created with, and the earlier wallet
 * stays claimed for them. A recovery in progress ends.
 *
 * @returns whether one was in progress
 * @throws MerchantRefusal changed_too_often, message_used, wallet_taken
 */
export async function changeWallet(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
  { oldWallet, newWallet, messages }: ProvedChange,
): Promise<boolean> {
  const now = ctx.clock.now();
  return claimingWallet(ctx, scope, async (tx, claim) => {
    const owner = await lockWalletOwner(tx, scope, accountId);
    if (owner?.wallet_address !== oldWallet || owner.onboarded_at === null) throw new MerchantRefusal('message_used');
    for (const signed of messages) {
      if (!(await useWalletMessage(tx, signed, now))) throw new MerchantRefusal('message_used');
    }
    if (!(await takeDailyQuota(tx, scope, 'wallet_change', { subject: accountId, max: maxChanges }))) {
      throw new MerchantRefusal('changed_too_often');
    }
    await claim(accountId, newWallet.address, now);
    await updateWallet(tx, scope, { id: randomUUID(), accountId, wallet: newWallet, now });
    const recovery = await selectOpenChange(tx, scope, accountId);
    if (recovery) await updateStopped(tx, scope, recovery.id, 'cancelled', now);
    await queueWalletNotice(ctx, tx, scope, accountId, { kind: 'changed', oldWallet, newWallet: newWallet.address });
    await audit(ctx, tx, actor, {
      ...scope,
      action: 'wallet.changed',
      object: { kind: 'merchant', id: accountId },
      details: { from: oldWallet, to: newWallet.address, ...(recovery && { recovery: 'ended' }) },
    });
    return recovery !== null;
  });
}
