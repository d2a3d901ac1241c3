import { selectCursors } from '../../chain/cursors.ts';
import { promptEndpoints } from '../../chain/failover.ts';
import { paidBy, transferOf } from '../../chain/reader/blocks.ts';
import { findByNonce } from '../../chain/reader/replacement.ts';
import { isSetAside } from '../../chain/reader/unread.ts';
import { connectRpc, nullOfRpc, type Receipt, type Rpc, RpcError } from '../../chain/rpc.ts';
import { type ChainConfig, findChain } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Scope } from '../../db/connection.ts';
import { rowsInBatches } from '../../db/in-batches.ts';
import { modeOf } from '../../lib/mode.ts';
import { withinOr } from '../../lib/time.ts';
import { findRequest } from '../../requests/read.ts';
import type { RequestRow } from '../../requests/store.ts';
import { plausiblePayment } from './plausible-payment.ts';
import type { UnsettledTransaction } from './query-chains.ts';
import { rereadIfMissing } from './reread.ts';
import {
  claimSubmitted,
  deleteOldSubmitted,
  deleteSubmitted,
  type SubmittedRow,
  type SubmittedState,
  selectSubmitted,
  updateSubmitted,
  upsertSubmitted,
} from './store.ts';

/** A submitted transaction of which no transfer is stored yet. It proves nothing and changes no state. */
export type SubmittedTransaction = {
  chainId: number;
  txHash: string;
  fromAddress: string;
  /**
   * `seen`: waits to be mined. `mined`: the watcher is about to read it. `failed`: mined, but moved nothing.
   * `replaced`: its sender used its nonce for another one. `gone`: no longer known, and nothing took its place.
   */
  state: SubmittedState;
  /** With `replaced`: the transaction that was mined instead, if it could be found. */
  replacedBy: string | null;
  firstSeenAt: Date;
  /** The amount it moves to the request's wallet, in micro units; null while that is known only once it is mined. */
  usdcMicro: bigint | null;
  /** When the request's first transaction was submitted. */
  reportedAt: Date;
};

const timeoutMs = 2_500;
/** A page waits for this. */
const limitMs = 3_000;
const batchSize = 500;

/** Stores what was seen of a transaction for its request's page, if it looks like a payment of the request. */
export async function storeSubmitted(
  ctx: Context,
  scope: Scope,
  request: RequestRow,
  unsettled: UnsettledTransaction,
): Promise<void> {
  const { chain, transaction, headNumber, state } = unsettled;
  await ctx.db.scoped(scope, async (tx) => {
    const fit = await plausiblePayment(tx, scope, request, chain, transaction);
    if (!fit) return;
    await upsertSubmitted(tx, scope, {
      requestId: request.id,
      chainId: chain.chainId,
      txHash: transaction.hash,
      fromAddress: transaction.from,
      nonce: transaction.nonce,
      seenBlock: headNumber,
      state,
      valueMicro: fit.micro,
    });
  });
}

/** The submitted transactions of a request as they were last found, newest first, at most ten. */
export async function readSubmitted(ctx: Context, scope: Scope, requestId: string): Promise<SubmittedTransaction[]> {
  return (await ctx.db.scoped(scope, (tx) => selectSubmitted(tx, scope, requestId))).map(toSubmitted);
}

function toSubmitted(row: SubmittedRow): SubmittedTransaction {
  return {
    chainId: Number(row.chain_id),
    txHash: row.tx_hash,
    fromAddress: row.from_address,
    state: row.state,
    replacedBy: row.replaced_by,
    firstSeenAt: row.first_seen_at,
    usdcMicro: row.value === null ? null : BigInt(row.value),
    reportedAt: row.heard_at,
  };
}

/**
 * Queries the chains again about the submitted transactions of a request, each at most once a second however many pages
 * ask. If a chain does not answer, a transaction stays as it was. An answer after three seconds is stored for the next
 * reader.
 *
 * @returns as `readSubmitted`
 */
export async function refreshSubmitted(ctx: Context, scope: Scope, requestId: string): Promise<SubmittedTransaction[]> {
  const due = await ctx.db.scoped(scope, (tx) => claimSubmitted(tx, scope, requestId));
  const asked = Promise.all(due.map((row) => askAgain(ctx, scope, row))).catch((error) => {
    ctx.log.warn({ err: error, request_id: requestId }, 'a submitted transaction could not be followed');
  });
  await withinOr(asked, limitMs, null);
  return readSubmitted(ctx, scope, requestId);
}

async function askAgain(ctx: Context, scope: Scope, row: SubmittedRow): Promise<void> {
  const chain = findChain(ctx.chains[modeOf(scope.testMode)], row.chain_id);
  const change = chain ? await queryChain(chain, row) : null;
  const valueMicro = chain && change?.receipt && (await microToBeRead(ctx, scope, chain, row, change.receipt));
  if (valueMicro === 0n) return ctx.db.scoped(scope, (tx) => deleteSubmitted(tx, scope, row));
  if (!change || (change.state === row.state && change.replacedBy === row.replaced_by)) return;
  await ctx.db.scoped(scope, (tx) => updateSubmitted(tx, scope, row, { ...change, valueMicro }));
}

/**
 * The amount that a mined transaction pays to the request's wallet, in micro units, if the watcher has yet to read it;
 * otherwise 0n.
 */
async function microToBeRead(ctx: Context, scope: Scope, chain: ChainConfig, row: SubmittedRow, receipt: Receipt) {
  const request = await ctx.db.scoped(scope, (tx) => findRequest(tx, scope, row.request_id));
  const tokens = chain.tokens.map(({ address }) => address as string);
  const paying = receipt.logs.filter((log) => tokens.includes(log.address) && paidBy(log) === request?.wallet_address);
  if (!request || paying.length === 0) return 0n;
  const micro = paying.reduce((sum, log) => sum + (transferOf(log)?.value ?? 0n), 0n);
  const [cursor] = await selectCursors(ctx.db.sql, [chain.chainId]);
  if (!cursor || receipt.blockNumber > Number(cursor.number)) return micro;
  await rereadIfMissing(ctx, request, chain, receipt);
  return (await isSetAside(ctx.db, chain.chainId, receipt)) ? micro : 0n;
}

/** `receipt`: only if it was mined and succeeded. */
type SubmittedChange = { state: SubmittedState; replacedBy: string | null; receipt?: Receipt };

/** What a chain reports about a transaction now; null if no endpoint knows it and not all have answered. */
async function queryChain(chain: ChainConfig, row: SubmittedRow): Promise<SubmittedChange | null> {
  let without: Rpc | null = null;
  let silent = false;
  for (const url of promptEndpoints(chain)) {
    const rpc = connectRpc(url, timeoutMs);
    try {
      const [receipt, tx] = await Promise.all([rpc.receipt(row.tx_hash), rpc.transaction(row.tx_hash)]);
      if (receipt?.success) return { state: 'mined', replacedBy: null, receipt };
      if (receipt) return { state: 'failed', replacedBy: null };
      if (tx) return { state: 'seen', replacedBy: null };
      without = rpc;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      silent = true;
    }
  }
  return silent || !without ? null : askWhy(without, row);
}

/** Why a transaction is no longer known. */
async function askWhy(rpc: Rpc, row: SubmittedRow): Promise<SubmittedChange | null> {
  const nonce = Number(row.nonce);
  try {
    if ((await rpc.nonceAt(row.from_address, 'latest')) <= nonce) return { state: 'gone', replacedBy: null };
  } catch (error) {
    return nullOfRpc(error);
  }
  const other = await findByNonce(rpc, row.from_address, nonce, Number(row.seen_block));
  return other === row.tx_hash ? { state: 'mined', replacedBy: null } : { state: 'replaced', replacedBy: other };
}

/** Forgets transactions submitted three days ago, which have long been mined or given up. Returns how many. */
export function deleteExpiredSubmitted(ctx: Context, signal: AbortSignal): Promise<number> {
  return rowsInBatches(signal, batchSize, () => deleteOldSubmitted(ctx.db, batchSize));
}
