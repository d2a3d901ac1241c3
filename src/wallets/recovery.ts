import { randomUUID } from 'node:crypto';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Client } from '../auth/client.ts';
import { takeDailyQuota } from '../auth/daily-quota.ts';
import type { OwnHost } from '../auth/host.ts';
import { refuseUnknownLink } from '../auth/missing-secret-key.ts';
import { scopeOfWalletChange } from '../auth/scope.ts';
import {
  makeWalletMessage,
  proveMessage,
  type SignedMessageInput,
  useWalletMessage,
  type WalletRequest,
} from '../auth/siwe.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { dayMs, hourMs } from '../lib/durations.ts';
import { keyedHash, matchesAnyKey, newest, type SecretKey } from '../lib/encrypt.ts';
import { bytesOfUuid, uuidOfBytes } from '../lib/ids.ts';
import { type MerchantView, readMerchant } from '../merchants/read.ts';
import { MerchantRefusal } from '../merchants/refusal.ts';
import { claimingWallet } from './claim.ts';
import { queueWalletNotice } from './notices.ts';
import { limitQueriesFor, limitQueriesFrom } from './query-limits.ts';
import { provableChains } from './sign-in.ts';
import {
  insertRecovery,
  lockWalletOwner,
  selectChange,
  selectOpenChange,
  updateSigned,
  updateStopped,
  type WalletChange,
} from './store.ts';
import { chainsOf, readWallet, type TypedWallet } from './typed-wallet.ts';

export type { WalletChange } from './store.ts';

/** How long the link of a recovery is valid. */
const linkMs = 7 * dayMs;
/** How long the current wallet can object after the new one has signed. */
const objectionMs = 48 * hourMs;

/**
 * `sign`: the link for the new wallet. `veto`: the link for the current one. Neither is valid in place of the other.
 */
export type RecoveryLink = 'sign' | 'veto';

function linkProof(secret: SecretKey, link: RecoveryLink, id: string): Buffer {
  return keyedHash(secret, 'recovery', `${link}/${id}`).subarray(0, 16);
}

function linkUrl({ config }: Context, link: RecoveryLink, id: string): string {
  const bytes = Buffer.concat([bytesOfUuid(id), linkProof(newest(config.secretKeys), link, id)]);
  return `${config.baseUrl}/${link === 'veto' ? 'veto' : 'recover'}/${bytes.toString('base64url')}`;
}

function readLink({ config }: Context, link: RecoveryLink, token: string): string | null {
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length !== 32 || bytes.toString('base64url') !== token) return null;
  const id = uuidOfBytes(bytes.subarray(0, 16));
  const given = bytes.subarray(16);
  return matchesAnyKey(config.secretKeys, (secret) => linkProof(secret, link, id), given) ? id : null;
}

/** The audit fields of an act on a merchant. */
const onMerchant = (scope: Scope, id: string) => ({ ...scope, object: { kind: 'merchant' as const, id } });

/**
 * Per merchant and day (UTC), for starts by its partner. The merchant and the partner are mailed about each start and
 * its end.
 */
const maxStarts = 5;

/** A recovery and its merchant, in their scope. */
export type Recovery = { scope: Scope; change: WalletChange; merchant: MerchantView };

/**
 * Starts the recovery of a merchant whose wallet is lost. Replaces an earlier recovery that no wallet has signed for.
 *
 * @returns the link for the merchant, and until when a new wallet may sign there
 * @throws MerchantRefusal merchant_unknown, not_onboarded; recovery_signed if one is in its 48 hours; too_many_attempts
 */
export async function startRecovery(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
): Promise<{ url: string; until: Date }> {
  const id = randomUUID();
  const now = ctx.clock.now();
  const until = new Date(now.getTime() + linkMs);
  await ctx.db.scoped(scope, async (tx) => {
    const owner = await lockWalletOwner(tx, scope, accountId);
    if (!owner) throw new MerchantRefusal('merchant_unknown');
    const oldWallet = owner.wallet_address;
    if (owner.onboarded_at === null || oldWallet === null) throw new MerchantRefusal('not_onboarded');
    const earlier = await selectOpenChange(tx, scope, accountId);
    if (earlier?.state === 'signed') throw new MerchantRefusal('recovery_signed');
    // Starts by operators are not counted, so that a partner cannot prevent them.
    const counted = { subject: accountId, max: maxStarts };
    if (actor.kind === 'partner_user' && !(await takeDailyQuota(tx, scope, 'recovery_start', counted))) {
      throw new MerchantRefusal('too_many_attempts');
    }
    if (earlier) await updateStopped(tx, scope, earlier.id, 'cancelled', now);
    await insertRecovery(tx, scope, { id, accountId, oldWallet, now, linkUntil: until });
    const vetoUrl = linkUrl(ctx, 'veto', id);
    await queueWalletNotice(ctx, tx, scope, accountId, { kind: 'recovery_started', oldWallet, vetoUrl });
    await audit(ctx, tx, actor, { ...onMerchant(scope, accountId), action: 'recovery.started', details: {} });
  });
  return { url: linkUrl(ctx, 'sign', id), until };
}

/**
 * Runs a transaction that stops a recovery. Like everybody who changes a merchant's wallets, it locks the merchant
 * first, then the rest. It is repeated if it conflicts with another one all the same.
 */
const stopping = <T>({ db }: Context, scope: Scope, work: (tx: Tx) => Promise<T>): Promise<T> =>
  retryOnConflict(() => db.scoped(scope, work));

/**
 * Cancels a merchant's recovery, whoever started it.
 *
 * @returns false if none is in progress
 */
export async function cancelRecovery(ctx: Context, actor: Actor, scope: Scope, accountId: string): Promise<boolean> {
  return stopping(ctx, scope, async (tx) => {
    await lockWalletOwner(tx, scope, accountId);
    const open = await selectOpenChange(tx, scope, accountId);
    const stopped = open && (await updateStopped(tx, scope, open.id, 'cancelled', ctx.clock.now()));
    if (!stopped) return false;
    await queueWalletNotice(ctx, tx, scope, accountId, {
      kind: 'recovery_stopped',
      oldWallet: stopped.old_wallet,
      by: 'partner',
    });
    await audit(ctx, tx, actor, { ...onMerchant(scope, accountId), action: 'recovery.cancelled', details: {} });
    return true;
  });
}

/** The merchant's recovery in progress; null if there is none. */
export function readOpenRecovery(ctx: Context, scope: Scope, accountId: string): Promise<WalletChange | null> {
  return ctx.db.scoped(scope, (tx) => selectOpenChange(tx, scope, accountId));
}

/**
 * Opens a link of a recovery in any state; on a partner's own host, only for its own merchants.
 *
 * @throws MerchantRefusal link_unknown; recovery_expired if no wallet signed in time; MissingSecretKey
 */
export async function openRecovery(
  ctx: Context,
  link: RecoveryLink,
  token: string,
  host: OwnHost | null,
): Promise<Recovery> {
  const id = readLink(ctx, link, token);
  if (!id) await refuseUnknownLink(ctx);
  const scope = id && (await scopeOfWalletChange(ctx.db, id));
  if (!id || !scope || (host && host.partnerId !== scope.partnerId)) throw new MerchantRefusal('link_unknown');
  const change = await ctx.db.scoped(scope, (tx) => selectChange(tx, scope, id));
  const merchant = change && (await readMerchant(ctx, scope, change.account_id));
  if (!change || !merchant) throw new MerchantRefusal('link_unknown');
  if (isExpired(change, ctx.clock.now())) throw new MerchantRefusal('recovery_expired');
  return { scope, change, merchant };
}

function isExpired({ state, link_until: until }: WalletChange, now: Date): boolean {
  return state === 'expired' || (state === 'started' && until !== null && until <= now);
}

const signRequest = ({ change }: Recovery): WalletRequest => ({
  path: '/recover',
  statement: `I receive the payments of merchant ${change.account_id} at this wallet from 48 hours after this signature, in place of ${change.old_wallet}, unless that wallet objects.`,
});
const vetoRequest = ({ change }: Recovery): WalletRequest => ({
  path: '/veto',
  statement: `I object to the recovery ${change.id}: the payments of merchant ${change.account_id} stay at this wallet.`,
});

/**
 * The message that the new wallet signs.
 *
 * @throws MerchantRefusal change_over, wallet_malformed, chain_unknown, wallet_same
 */
export function recoveryMessage(ctx: Context, recovery: Recovery, typed: TypedWallet): string {
  const { change, merchant } = recovery;
  if (change.state !== 'started') throw new MerchantRefusal('change_over');
  const wallet = readWallet(chainsOf(ctx, merchant), typed);
  if (wallet.address === change.old_wallet) throw new MerchantRefusal('wallet_same');
  return makeWalletMessage(ctx, signRequest(recovery), wallet);
}

/**
 * Records the new wallet's signature. The wallet is claimed from now on, and takes over 48 hours later.
 *
 * @throws MerchantRefusal of the message or the signature; change_over, wallet_same, wallet_taken
 */
export async function signRecovery(
  ctx: Context,
  recovery: Recovery,
  input: SignedMessageInput,
  client: Client,
): Promise<void> {
  const { scope, change, merchant } = recovery;
  if (change.state !== 'started') throw new MerchantRefusal('change_over');
  const mayQuery = limitQueriesFor(`recover/${change.id}`);
  const signed = await proveMessage(ctx, signRequest(recovery), chainsOf(ctx, merchant), input, mayQuery);
  if (typeof signed === 'string') throw new MerchantRefusal(signed);
  const { address: newWallet, chainIds } = signed;
  const oldWallet = change.old_wallet;
  if (newWallet === oldWallet) throw new MerchantRefusal('wallet_same');
  const now = ctx.clock.now();
  const dueAt = new Date(now.getTime() + objectionMs);
  await claimingWallet(ctx, scope, async (tx, claim) => {
    await lockWalletOwner(tx, scope, merchant.id);
    if (!(await useWalletMessage(tx, signed, now))) throw new MerchantRefusal('message_used');
    if (!(await updateSigned(tx, scope, change.id, { address: newWallet, chainIds }, { now, dueAt }))) {
      throw new MerchantRefusal('change_over');
    }
    await claim(merchant.id, newWallet, now);
    const vetoUrl = linkUrl(ctx, 'veto', change.id);
    await queueWalletNotice(ctx, tx, scope, merchant.id, {
      kind: 'recovery_signed',
      oldWallet,
      newWallet,
      dueAt,
      vetoUrl,
    });
    await audit(
      ctx,
      tx,
      { kind: 'merchant', accountId: merchant.id, walletAddress: newWallet, ...client },
      {
        ...scope,
        action: 'recovery.signed',
        object: { kind: 'merchant', id: merchant.id },
        details: { from: oldWallet, to: newWallet, due: dueAt.toISOString() },
      },
    );
  });
}

/** The message that the current wallet signs to object, on the first network of the mode. */
export function vetoMessage(ctx: Context, recovery: Recovery, host: OwnHost | null): string {
  const [chain] = chainsOf(ctx, recovery.merchant);
  const wallet = { address: recovery.change.old_wallet, chainId: chain?.chainId ?? 1, host };
  return makeWalletMessage(ctx, vetoRequest(recovery), wallet);
}

/**
 * Checks that the current wallet objects by its signature, without a session; `vetoRecovery` then stops the recovery.
 * Queries the chains, so never call it inside a transaction.
 *
 * @param ip address of the client
 * @throws MerchantRefusal of the message or the signature
 */
export async function proveVeto(
  ctx: Context,
  recovery: Recovery,
  input: SignedMessageInput,
  ip: string,
): Promise<void> {
  const { change, merchant } = recovery;
  const mayQuery = limitQueriesFrom(ip, `veto/${change.id}`); // the partner is mailed the link too
  const signed = await proveMessage(ctx, vetoRequest(recovery), provableChains(ctx, merchant), input, mayQuery);
  if (typeof signed === 'string') throw new MerchantRefusal(signed);
  if (signed.address !== change.old_wallet) throw new MerchantRefusal('message_changed');
}

/**
 * Stops a recovery immediately and for good, for a merchant that has proved that it still has its wallet.
 *
 * @throws MerchantRefusal change_over if it had already ended
 */
export async function vetoRecovery(ctx: Context, actor: Actor, scope: Scope, changeId: string): Promise<void> {
  await stopping(ctx, scope, async (tx) => {
    const change = await selectChange(tx, scope, changeId);
    if (change) await lockWalletOwner(tx, scope, change.account_id);
    const stopped = await updateStopped(tx, scope, changeId, 'vetoed', ctx.clock.now());
    if (!stopped) throw new MerchantRefusal('change_over');
    await queueWalletNotice(ctx, tx, scope, stopped.account_id, {
      kind: 'recovery_stopped',
      oldWallet: stopped.old_wallet,
      by: 'merchant',
    });
    await audit(ctx, tx, actor, { ...onMerchant(scope, stopped.account_id), action: 'recovery.vetoed', details: {} });
  });
}
