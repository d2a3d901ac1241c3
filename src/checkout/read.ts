import { scopeOfRequest } from '../auth/scope.ts';
import { payableChains } from '../chain/offered.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { WalletConnectConfig } from '../config.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { payeeName } from '../merchants/payee-name.ts';
import { readBranding } from '../partners/branding.ts';
import { type AuthorizedOffer, authorizedOffers } from '../payments/authorized/offer.ts';
import { readFindings } from '../payments/findings.ts';
import type { PaymentProgress } from '../payments/proof/progress.ts';
import { claimTypedDataJson } from '../payments/submitted/claim.ts';
import type { MisdirectedPayment } from '../payments/unmatched/misdirected.ts';
import { type RefundRow, readRefunds } from '../refunds/read.ts';
import { type PayPageRow, readPayPageRow } from '../requests/pay-page.ts';
import { payPageUrl } from '../requests/render.ts';
import { effectiveStatus } from '../requests/rules.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Branding } from '../ui/branding.ts';
import type { Words } from '../ui/language.ts';
import { payOptions } from './options.ts';
import { isEnded, type PayState, payState } from './state.ts';

/** Everything that a customer's page shows. */
export type Checkout = {
  scope: Scope;
  row: PayPageRow;
  /** The name under which the customer knows whoever is paid. */
  merchant: string;
  progress: PaymentProgress;
  state: PayState;
  /** What the merchant refunds of money that was not needed, by `writeTransferKey`. */
  refunds: Map<string, RefundRow>;
  /** The chains of the mode on which this merchant's wallet can be paid, also those that are not offered. */
  chains: ChainConfig[];
  /** The ways to pay by a signature alone, without coin for the network fee. */
  feeless: AuthorizedOffer[];
  /** A chain that has not been readable for a while; null if all are. */
  troubled: ChainConfig | null;
  branding: Branding;
  /** Renders a form that pays with a test wallet; null outside the sandbox's own chain. */
  testPanel: Sandbox['testPanel'] | null;
  /** The project for pairing with wallets on other devices; null if none is configured. */
  walletConnect: WalletConnectConfig | null;
  /** The JSON for `eth_signTypedData_v4` with which a transfer's sender claims that it pays this request. */
  claimData: (key: { chainId: number; txHash: string; ordinal: number }) => string;
  /** Public address of the pay page. */
  url: string;
  now: Date;
  words: Words;
};

/**
 * Reads what a pay page shows; null if there is no such request.
 *
 * @param misdirected for an open page: payments sent by mistake that were found on the chains just now. With them, the
 *   chains are also queried about transactions that were only reported, which may take a few seconds. Null reads only
 *   the database
 */
export async function readCheckout(
  ctx: Context,
  requestId: string,
  words: Words,
  misdirected: MisdirectedPayment[] | null = null,
): Promise<Checkout | null> {
  if (!isUuid(requestId)) return null;
  const id = requestId.toLowerCase();
  const scope = await scopeOfRequest(ctx.db, id);
  const row = scope && (await readPayPageRow(ctx.db, scope, id));
  if (!row) return null;
  const now = ctx.clock.now();
  const mode = modeOf(scope.testMode);
  const [findings, branding] = await Promise.all([
    readFindings(ctx, scope, row, misdirected),
    readBranding(ctx, scope.partnerId),
  ]);
  const { progress, silent } = findings;
  const status = effectiveStatus(row, now);
  const chains = payableChains(ctx.chains[mode], row.wallet_chain_ids);
  const state = payState({ row, status, ...findings, now });
  const dues = row.expires_at > now ? payOptions({ chains, state, progress }) : [];
  return {
    scope,
    row,
    merchant: payeeName(row),
    progress,
    state,
    refunds: isEnded(state)
      ? await readRefunds(ctx.db, scope, [...progress.surpluses, ...progress.unmatched])
      : new Map(),
    chains,
    feeless: await authorizedOffers(ctx, { scope, accountId: row.account_id }, dues),
    // A chain that was never read has just been configured. Its watcher tells the operator; the customer need not know.
    troubled: silent.find(({ chain, readAt }) => readAt !== null && chains.includes(chain))?.chain ?? null,
    branding,
    testPanel: ctx.sandbox?.hasTestWallet(ctx, scope) ? ctx.sandbox.testPanel : null,
    walletConnect: ctx.config.walletConnect,
    claimData: (key) => claimTypedDataJson(ctx.config, id, key),
    url: payPageUrl(ctx.config, id),
    now,
    words,
  };
}
