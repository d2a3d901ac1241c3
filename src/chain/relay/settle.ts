import type { ChainConfig } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { notifyQueue } from '../../db/changes.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { finalNumber, type Heads } from '../finality.ts';
import { connectRpc, type Receipt, RpcError } from '../rpc.ts';
import type { AccountReport } from './account-store.ts';
import {
  type FoundTransaction,
  updateEnded,
  updateGone,
  updateLost,
  updateMined,
  updatePassed,
  updateSentHead,
} from './outcome-store.ts';
import type { RelayRow, StoredVariant } from './store.ts';

const timeoutMs = 4_000;
/** How many calls' receipts are requested at once, and in one pass. */
const receiptsAtOnce = 4;
const maxReceipts = 50;

/** The state of a chain, as far as it was read and queried. */
export type ChainState = { heads: Heads | null; counted: AccountReport };

/** A call of which the reader has found a variant. */
export type FoundCall = { row: RelayRow; variant: StoredVariant; found: FoundTransaction };

/** Stores which calls the reader has found: they succeeded, and each is final once its transfer is. */
export async function settleFound(ctx: Context, calls: readonly FoundCall[]): Promise<void> {
  const moved = calls.filter(({ row, found }) => row.state !== 'mined' || row.block_hash !== found.blockHash);
  await updateMined(
    ctx.db.sql,
    moved.map(({ row, variant: { hash, feeWei }, found: { blockNumber, blockHash } }) => ({
      row,
      mined: { hash, blockNumber, blockHash, succeeded: true, feeWei },
    })),
  );
  const final = calls.filter(({ found }) => found.final);
  await updateEnded(
    ctx.db.sql,
    final.map(({ row }) => row.id),
    'final',
  );
  // Their partners have room for other calls, and their own rows can be ended.
  if ([...moved, ...final].some(({ row }) => row.purpose === 'charge')) await notifyQueue(ctx.db, 'charges');
}

/**
 * Decides about calls that the reader has not found, by their receipts. A call that failed or was lost has
 * consequences, so every endpoint must agree on it, and its block must be final.
 *
 * @returns the calls that are still to be mined
 */
export async function settleOthers(
  ctx: Context,
  chain: ChainConfig,
  rows: readonly RelayRow[],
  variants: Map<string, StoredVariant[]>,
  view: ChainState,
): Promise<RelayRow[]> {
  const { counted, heads } = view;
  const isUsed = (row: RelayRow) => Number(row.nonce) < counted.maxNonce;
  // An endpoint once reported a newer head than there is: that block might never be reached.
  const isAhead = (head: string | null) => head !== null && Number(head) > counted.head;
  const sentAhead = rows.filter((row) => row.state === 'sent' && isAhead(row.sent_head));
  await updateSentHead(
    ctx.db.sql,
    sentAhead.map(({ id }) => id),
    counted.head,
  );
  const newlyUsed = rows.filter(
    (row) => isUsed(row) && row.state !== 'mined' && (row.passed_block === null || isAhead(row.passed_block)),
  );
  await updatePassed(
    ctx.db.sql,
    newlyUsed.map(({ id }) => id),
    counted.head,
  );
  // An endpoint that claims too many transactions was contradicted.
  const unusedAgain = rows.filter((row) => !isUsed(row) && row.passed_block !== null);
  await updatePassed(
    ctx.db.sql,
    unusedAgain.map(({ id }) => id),
    null,
  );
  const undecided = rows.filter((row) => needsReceipt(row, isUsed(row), chain, heads, counted.head));
  // Begins at a random position: otherwise calls whose receipts no endpoint returns would come first in each pass.
  const start = Math.floor(Math.random() * undecided.length);
  const chosen = [...undecided.slice(start), ...undecided.slice(0, start)].slice(0, maxReceipts);
  await mapLimited(chosen, receiptsAtOnce, (row) => settleByReceipt(ctx, chain, row, variants.get(row.id) ?? [], view));
  return rows.filter((row) => !isUsed(row) && row.state !== 'mined');
}

/** Whether only a receipt can say more about a call. */
function needsReceipt(row: RelayRow, isUsed: boolean, chain: ChainConfig, heads: Heads | null, head: number): boolean {
  if (row.state === 'mined') {
    const isFinal = heads !== null && Number(row.block_number) <= finalNumber(chain.finality, heads);
    return isFinal || !isUsed;
  }
  if (!isUsed) return false;
  // The reader finds calls that move money to a merchant, once it has read that far.
  const passed = Number(row.passed_block ?? head);
  return row.purpose === 'revoke' || heads === null || heads.latest >= passed;
}

async function settleByReceipt(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  variants: readonly StoredVariant[],
  { heads, counted }: ChainState,
): Promise<void> {
  const { sql } = ctx.db;
  const final = heads === null ? -1 : finalNumber(chain.finality, heads);
  const search = await findReceipt(
    chain,
    variants.map(({ hash }) => hash),
  );
  if (search.receipt) {
    const { receipt } = search;
    const variant = variants.find(({ hash }) => hash === receipt.txHash);
    if (!variant) return;
    const { blockNumber, blockHash, feeWei } = receipt;
    const succeeded = receipt.success && !variant.cancels;
    await updateMined(sql, [{ row, mined: { hash: variant.hash, blockNumber, blockHash, succeeded, feeWei } }]);
    if (blockNumber > final || !(await allAgree(chain, receipt))) return;
    await updateEnded(sql, [row.id], variant.cancels ? 'lost' : succeeded ? 'final' : 'reverted');
    return;
  }
  if (!search.denied) return;
  if (row.state === 'mined') return updateGone(sql, row.id);
  const isUsed = counted.isComplete && Number(row.nonce) < counted.minNonce;
  const isFinal = row.passed_block !== null && Number(row.passed_block) <= final;
  // A call that was never signed cannot have been mined.
  if (isUsed && (isFinal || variants.length === 0)) await updateLost(sql, row);
}

type ReceiptSearch = { receipt: Receipt | null; denied: boolean };

/** The receipt of any of these transactions; `denied` if every endpoint says that none of them is mined. */
async function findReceipt(chain: ChainConfig, hashes: readonly string[]): Promise<ReceiptSearch> {
  let denied = true;
  for (const url of chain.rpcUrls) {
    for (const hash of hashes) {
      const receipt = await receiptAt(url, hash);
      if (receipt === 'unknown') denied = false;
      else if (receipt) return { receipt, denied: false };
    }
  }
  return { receipt: null, denied };
}

/** Whether every endpoint reports the same outcome in the same block. */
async function allAgree(chain: ChainConfig, { txHash, blockHash, success }: Receipt): Promise<boolean> {
  const answers = await Promise.all(chain.rpcUrls.map((url) => receiptAt(url, txHash)));
  return answers.every(
    (answer) =>
      typeof answer === 'object' && answer !== null && answer.blockHash === blockHash && answer.success === success,
  );
}

async function receiptAt(url: string, hash: string): Promise<Receipt | null | 'unknown'> {
  try {
    const receipt = await connectRpc(url, timeoutMs).receipt(hash);
    return receipt && receipt.txHash !== hash ? 'unknown' : receipt;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return 'unknown';
  }
}
