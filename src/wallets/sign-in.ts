import { withAudit } from '../audit/write.ts';
import type { Client } from '../auth/client.ts';
import { createMerchantSession } from '../auth/merchant-session.ts';
import { scopeOfWallet } from '../auth/scope.ts';
import {
  makeWalletMessage,
  proveMessage,
  readWalletMessage,
  type SignedMessageInput,
  useWalletMessage,
  type WalletRequest,
} from '../auth/siwe.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { AttemptLimit, networkSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { readMerchant } from '../merchants/read.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { chainsOf, readWallet, type TypedWallet } from './typed-wallet.ts';

/**
 * How many signatures of contract wallets may be checked, per node and minute. Each check queries chains, and anybody
 * can create such a wallet.
 */
const contractsPerMinute = 300;
const contractChecks = new AttemptLimit(contractsPerMinute, minuteMs);
/** The share of one network, so that a stranger cannot use up the limit of everybody. */
const contractsPerNetwork = 20;
const contractChecksOfNetwork = new AttemptLimit(contractsPerNetwork, minuteMs);
/**
 * Browsers with which a wallet has signed in before have a limit of their own for each wallet, which strangers cannot
 * use up.
 */
const checksOfKnown = new AttemptLimit(contractsPerNetwork, minuteMs);
/**
 * All such browsers of a partner together have a limit, too, because anybody can have many wallets. Beyond it, they
 * count as strangers.
 */
const checksOfKnownTogether = new AttemptLimit(contractsPerMinute, minuteMs);

const signInRequest: WalletRequest = {
  path: '/dashboard/sign-in',
  statement:
    'I sign in to the dashboard of the merchant that is paid at this wallet. It gives nobody access to my money.',
};

/** The chains for a sign-in. Until a wallet has signed, its mode is unknown, so it may be on any network. */
export function signInChains(ctx: Context): ChainConfig[] {
  return [...ctx.chains.live, ...ctx.chains.test];
}

/**
 * The message with which a wallet signs in, a new one each time. Wallets that belong to no merchant also get one.
 *
 * @throws MerchantRefusal wallet_malformed, chain_unknown
 */
export function signInMessage(ctx: Context, typed: TypedWallet): string {
  return makeWalletMessage(ctx, signInRequest, readWallet(signInChains(ctx), typed));
}

/**
 * The chains on which the signature of a merchant's wallet can be checked: for a contract, only those on which it was
 * checked before.
 */
export function provableChains(
  ctx: Context,
  merchant: { test_mode: boolean; wallet_chain_ids: number[] | null },
): ChainConfig[] {
  const checked = merchant.wallet_chain_ids ?? [];
  return chainsOf(ctx, merchant).filter(({ chainId }) => checked.includes(chainId));
}

/** `earlier`: the session token that it still has. `isKnown`: whether this wallet has signed in with it before. */
export type Browser = { earlier: string | null; isKnown(wallet: string): boolean };

/**
 * Signs a merchant in by its wallet. Chains are queried only for a merchant's contract wallet. For a wallet that
 * belongs to no merchant, only the signature of its key is checked.
 *
 * @returns the new session's token, and the wallet
 * @throws MerchantRefusal message_changed, message_used, signature_invalid, chain_unreachable, too_many_attempts;
 *   wallet_unknown if the key has signed but the wallet belongs to no merchant
 */
export async function signInWithWallet(
  ctx: Context,
  input: SignedMessageInput,
  client: Client,
  { earlier, isKnown }: Browser,
): Promise<{ token: string; walletAddress: string }> {
  const claimed = readWalletMessage(ctx, signInRequest, input);
  if (typeof claimed === 'string') throw new MerchantRefusal(claimed);
  const owner = await scopeOfWallet(ctx.db, claimed.address);
  // On a partner's own host, merchants of other partners count as unknown.
  const holder = input.host === null || input.host.partnerId === owner?.scope.partnerId ? owner : null;
  const merchant = holder && (await readMerchant(ctx, holder.scope, holder.accountId));
  const chains = merchant ? provableChains(ctx, merchant) : [];
  const takeKnown = (now: Date) =>
    holder !== null &&
    isKnown(claimed.address) &&
    checksOfKnown.take(claimed.address, now) &&
    checksOfKnownTogether.take(holder.scope.partnerId, now);
  const mayQuery = (now: Date) =>
    takeKnown(now) || (contractChecksOfNetwork.take(networkSubject(client.ip), now) && contractChecks.take('', now));
  const signed = await proveMessage(ctx, signInRequest, chains, input, mayQuery);
  if (typeof signed === 'string') throw new MerchantRefusal(signed);
  if (!holder) throw new MerchantRefusal('wallet_unknown');
  if (!(await useWalletMessage(ctx.db.sql, signed, ctx.clock.now()))) throw new MerchantRefusal('message_used');
  const walletAddress = signed.address;
  const { scope, accountId } = holder;
  const token = await withAudit(
    ctx,
    { kind: 'merchant', accountId, walletAddress, ...client },
    (inner) => createMerchantSession(inner, { scope, accountId, walletAddress }, client, earlier),
    () => ({ ...scope, action: 'session.started', object: { kind: 'merchant', id: accountId }, details: {} }),
  );
  return { token, walletAddress };
}
