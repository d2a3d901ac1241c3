import { promptEndpoints } from '../chain/failover.ts';
import { transferOf } from '../chain/reader/blocks.ts';
import { isYetToBeRead, requestReread } from '../chain/reader/unread.ts';
import { connectRpc, type Receipt, RpcError, type Transaction } from '../chain/rpc.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { AttemptLimit } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';
import { isHash32 } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { selectOwnWallets } from './own-wallets-store.ts';
import { selectByHash } from './store.ts';
import { isSameTransfer, keyOf, selectWithRefund, type TransferRow } from './transfers.ts';

/** What one log of a transaction moved. This is public, whoever asks. */
export type Moved = {
  tokenAddress: string;
  /**
   * The symbol of an accepted token, whose amounts are micro units; null for any other token, of which nothing is
   * known.
   */
  symbol: string | null;
  value: bigint;
  from: string;
  to: string;
  /** Whether it reached a wallet of the party that asks. */
  isOwn: boolean;
};

/** `isRefunded`: refunded, or about to be. */
export type StoredTransfer = TransferRow & { isRefunded: boolean };

/** What was found about a transaction hash, for a partner or one of its merchants. */
export type TransactionReport = {
  /** Null if no chain knows it. */
  chain: ChainConfig | null;
  /** `test` and `live` networks are both queried; a payment counts only in its own mode. */
  isOtherMode: boolean;
  /**
   * `unavailable`: not all chains answered, and none knows it. `limited`: there were too many queries in this minute,
   * so the chains were not queried.
   */
  state: 'malformed' | 'limited' | 'unavailable' | 'unknown' | 'pending' | 'failed' | 'mined';
  /** Whether the watcher will still read it. It never reads one from a time when none of its wallets was watched. */
  isToBeRead: boolean;
  /** At most 20, own ones first. */
  moved: Moved[];
  /** Its stored transfers that belong to the party that asks. */
  stored: StoredTransfer[];
};

const timeoutMs = 2_500;
const maxShown = 20;
/**
 * Queries of one merchant, or of a partner's users, in one mode, per minute and process: each queries every chain. A
 * merchant's queries do not count against the partner, and only few against other merchants.
 */
const queryLimit = new AttemptLimit(20, minuteMs);
/** Queries of all merchants of a partner. */
const queryLimitOfMerchants = new AttemptLimit(100, minuteMs);

function takeQuery({ partnerId, testMode }: Scope, accountId: string | null, now: Date): boolean {
  const own = queryLimit.take(`${partnerId} ${testMode} ${accountId ?? 'partner'}`, now);
  return own && (accountId === null || queryLimitOfMerchants.take(`${partnerId} ${testMode}`, now));
}

/**
 * Looks up a transaction hash: what the chains say about it, and which payment of the party that asks it is. Each chain
 * is queried at most twice, for two answers, before and never during a database transaction. This applies nothing; what
 * the watcher has missed is read again.
 *
 * @param accountId only what belongs to this merchant; null for the whole partner
 */
export async function reportTransaction(
  ctx: Context,
  scope: Scope,
  typed: string,
  accountId: string | null,
): Promise<TransactionReport> {
  const txHash = typed.trim().toLowerCase();
  const nothing = { chain: null, isOtherMode: false, isToBeRead: false, moved: [], stored: [] };
  if (!isHash32(txHash)) return { ...nothing, state: 'malformed' };
  const own = ctx.chains[modeOf(scope.testMode)];
  const other = ctx.chains[modeOf(!scope.testMode)];
  const isAllowed = takeQuery(scope, accountId, ctx.clock.now());
  const asked = isAllowed ? await Promise.all([...own, ...other].map((chain) => queryChain(chain, txHash))) : [];
  const known = asked.find(({ transaction, receipt }) => transaction ?? receipt);
  const logs = known?.receipt?.success ? transfersIn(known.receipt) : [];
  const chainIds = own.map(({ chainId }) => chainId);

  const { stored, refunds, wallets } = await ctx.db.scoped(scope, async (tx) => {
    const stored = await selectByHash(tx, scope, { txHash, chainIds }, { accountId });
    return {
      stored,
      refunds: await selectWithRefund(tx, scope, stored.map(keyOf)),
      wallets: await selectOwnWallets(tx, scope, [...new Set(logs.map(({ to }) => to))], accountId),
    };
  });
  const addresses = new Set([...wallets.map(({ address }) => address), ...stored.map(({ to_address }) => to_address)]);
  const report = {
    isOtherMode: known !== undefined && other.includes(known.chain),
    stored: stored.map((row) => ({ ...row, isRefunded: refunds.some((back) => isSameTransfer(keyOf(row), back)) })),
  };
  if (!known) {
    const [chainId] = stored.map(({ chain_id }) => Number(chain_id));
    const chain = own.find((one) => one.chainId === chainId) ?? null;
    const silent = asked.some(({ answered }) => !answered);
    const state = isAllowed ? (silent ? 'unavailable' : 'unknown') : 'limited';
    return { ...nothing, ...report, chain, state };
  }
  const { chain, receipt } = known;
  const isUnread = receipt?.success && !report.isOtherMode && stored.length === 0;
  const isToBeRead = isUnread === true && (await askToRead(ctx, scope, chain, receipt, addresses));
  const moved = logs.map((log) => ({ ...log, ...named(chain, log.tokenAddress), isOwn: addresses.has(log.to) }));
  return {
    ...report,
    chain,
    isToBeRead,
    state: receipt ? (receipt.success ? 'mined' : 'failed') : 'pending',
    moved: moved.sort((a, b) => Number(b.isOwn) - Number(a.isOwn)).slice(0, maxShown),
  };
}

type ChainAnswer = { chain: ChainConfig; answered: boolean; transaction: Transaction | null; receipt: Receipt | null };

/** What a chain knows of a transaction. */
async function queryChain(chain: ChainConfig, txHash: string): Promise<ChainAnswer> {
  let answered = false;
  for (const url of promptEndpoints(chain)) {
    const rpc = connectRpc(url, timeoutMs);
    try {
      const [receipt, transaction] = await Promise.all([rpc.receipt(txHash), rpc.transaction(txHash)]);
      answered = true;
      if (receipt || transaction) return { chain, answered, transaction, receipt };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
    }
  }
  return { chain, answered, transaction: null, receipt: null };
}

function transfersIn(receipt: Receipt) {
  return receipt.logs.flatMap((log) => {
    const transfer = transferOf(log);
    return transfer && transfer.value > 0n ? [{ tokenAddress: log.address, ...transfer }] : [];
  });
}

function named(chain: ChainConfig, tokenAddress: string): { symbol: string | null } {
  return { symbol: chain.tokens.find(({ address }) => address === tokenAddress)?.symbol ?? null };
}

/**
 * Makes the watcher read a transaction again that pays an own wallet, if it has passed the block without it.
 *
 * @returns whether it will read it
 */
async function askToRead(
  ctx: Context,
  scope: Scope,
  chain: ChainConfig,
  receipt: Receipt,
  own: Set<string>,
): Promise<boolean> {
  const place = { chainId: chain.chainId, testMode: scope.testMode };
  for (const { tokenAddress, to } of transfersIn(receipt)) {
    if (!own.has(to) || named(chain, tokenAddress).symbol === null) continue;
    await requestReread(ctx.db, place, { wallet: to, transactions: [receipt], sinceBlock: null });
    return isYetToBeRead(ctx.db, chain.chainId, receipt);
  }
  return false;
}
