import { scopeOfRow } from '../auth/scope.ts';
import { readTransfer } from '../chain/blocks.ts';
import type { ChainConfig } from '../chain/config.ts';
import { isFinal } from '../chain/finality.ts';
import { connectRpc, type Receipt, RpcError } from '../chain/rpc.ts';
import type { Context } from '../context.ts';
import { readChainView } from './heads.ts';
import { claimReturns, type DueReturn, type ReturnState, updateReturn } from './return-store.ts';

/** A person waits for this. */
const timeoutMs = 2_500;
const passSize = 20;
/** What no endpoint has known for so long was never sent. */
const missingAfterMs = 24 * 3_600_000;

/** What a transaction must do to give a payment back. */
export type WantedReturn = {
  returnTxHash: string;
  tokenAddress: string;
  /** The merchant's wallet that was paid. */
  fromAddress: string;
  /** Who paid. */
  toAddress: string;
  usdcMicro: bigint;
  /** It was mined in the payment's block or later. */
  sinceBlock: number;
};

/**
 * What a chain says of it. `unknown`: no endpoint knows it. `waiting`: it is not mined. `unavailable`: nobody answered who
 * could know. Otherwise it is mined: it `gives` back, does something `other`, or has `failed`.
 */
export type ReturnSight =
  | { kind: 'unknown' | 'waiting' | 'unavailable' }
  | { kind: 'gives'; givenMicro: bigint; final: boolean }
  | { kind: 'other' | 'failed'; final: boolean };

/** Looks for a transaction that gives a payment back, for 2.5 seconds at most; where two endpoints are configured, on both. */
export async function lookForReturn(
  ctx: Context,
  testMode: boolean,
  chain: ChainConfig,
  wanted: WantedReturn,
): Promise<ReturnSight> {
  const answers = await Promise.all(chain.rpcUrls.slice(0, 2).map((url) => askOne(url, wanted.returnTxHash)));
  const [receipt] = answers.flatMap((answer) => (typeof answer === 'object' ? [answer] : []));
  if (!receipt) {
    if (answers.includes('waiting')) return { kind: 'waiting' };
    return { kind: answers.includes('unavailable') ? 'unavailable' : 'unknown' };
  }
  const told = (one: Receipt) => [one.blockHash, one.blockNumber, one.success, movedMicro(one, wanted)].join();
  const agreed = answers.every((answer) => typeof answer === 'object' && told(answer) === told(receipt));
  const heads = (await readChainView(ctx, ctx.db.sql, testMode)).get(chain.chainId)?.heads ?? null;
  const final = agreed && heads !== null && isFinal(receipt.blockNumber, wanted.usdcMicro, chain.finality, heads);
  if (!receipt.success) return { kind: 'failed', final };
  const givenMicro = receipt.blockNumber < wanted.sinceBlock ? 0n : movedMicro(receipt, wanted);
  return givenMicro > 0n ? { kind: 'gives', givenMicro, final } : { kind: 'other', final };
}

async function askOne(url: string, txHash: string): Promise<Receipt | 'waiting' | 'unknown' | 'unavailable'> {
  const rpc = connectRpc(url, timeoutMs);
  try {
    const [receipt, transaction] = await Promise.all([rpc.receipt(txHash), rpc.transaction(txHash)]);
    return receipt ?? (transaction ? 'waiting' : 'unknown');
  } catch (error) {
    if (error instanceof RpcError) return 'unavailable';
    throw error;
  }
}

/** How much of the token a transaction moves from the merchant's wallet to who paid. */
function movedMicro({ logs }: Receipt, { tokenAddress, fromAddress, toAddress }: WantedReturn): bigint {
  let micro = 0n;
  for (const log of logs) {
    const transfer = log.address === tokenAddress ? readTransfer(log) : null;
    if (transfer?.from === fromAddress && transfer.to === toAddress) micro += transfer.value;
  }
  return micro;
}

/**
 * Looks again for transactions that gave payments back, until each is final, or was not found for a day.
 *
 * @returns how many were looked for
 */
export async function followReturns(ctx: Context): Promise<number> {
  const rows = await claimReturns(ctx.db, passSize);
  await Promise.all(rows.map((row) => follow(ctx, row)));
  return rows.length;
}

async function follow(ctx: Context, row: DueReturn): Promise<void> {
  const chain = ctx.chains[row.test_mode ? 'test' : 'live'].find(({ chainId }) => String(chainId) === row.chain_id);
  if (!chain) return;
  const sight = await lookForReturn(ctx, row.test_mode, chain, {
    returnTxHash: row.return_tx_hash,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    usdcMicro: BigInt(row.usdc_micro),
    sinceBlock: Number(row.block_number ?? 0),
  });
  if (sight.kind === 'unavailable') return;
  const [state, givenMicro] = stateOf(sight, ctx.clock.now().getTime() - row.noted_at.getTime());
  if (state === 'sent' && String(givenMicro) === String(row.given_micro)) return;
  const scope = scopeOfRow(row);
  await ctx.db.scoped(scope, (tx) => updateReturn(tx, scope, row, state, givenMicro));
}

/** What a note says after a look, so long after it was made. */
function stateOf(sight: ReturnSight, ageMs: number): [state: ReturnState, givenMicro: bigint | null] {
  if (sight.kind === 'unknown') return [ageMs < missingAfterMs ? 'sent' : 'missing', null];
  if (sight.kind === 'gives') return [sight.final ? 'confirmed' : 'sent', sight.givenMicro];
  if (sight.kind === 'other' || sight.kind === 'failed') return [sight.final ? sight.kind : 'sent', null];
  return ['sent', null];
}
