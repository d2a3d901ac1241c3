import { encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import { connectRpc } from '../chain/rpc.ts';
import { readTokenFacts } from '../chain/token-facts.ts';
import { type ChainConfig, findChain, type TokenConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isHash32 } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { isFinalPayment } from '../payments/proof/final-payment.ts';
import { type Reason, surpluses } from '../payments/rules.ts';
import {
  countPaidBy,
  isSameTransfer,
  keyOf,
  lockTransfer,
  selectCounted,
  selectTransfer,
  type TransferKey,
  type TransferRow,
  writeTransferKey,
} from '../payments/transfers.ts';
import { findRequest } from '../requests/read.ts';
import { allocateRefund } from './allocate.ts';
import { type ExpectedRefund, lookUpRefund, type RefundLookup } from './lookup.ts';
import { refundObstacle } from './obstacle.ts';
import {
  insertRefund,
  isGroupFull,
  isRefundSent,
  lockGroup,
  type RefundGroup,
  type RefundRow,
  selectGroup,
  selectRefund,
  updateRefundedMicro,
  updateRefundTransaction,
} from './store.ts';

/** How a payment can be refunded. */
export type PreparedRefund = {
  key: TransferKey;
  chain: ChainConfig;
  token: TokenConfig;
  /** The merchant's wallet that the money reached. */
  fromAddress: string;
  /** Who paid. */
  toAddress: string;
  /** The whole of a payment that pays nothing, or the surplus. */
  usdcMicro: bigint;
  /** The request that was overpaid; null for an unmatched payment. */
  requestId: string | null;
  /** The merchant's request that an unmatched payment seems meant for. */
  candidateRequestId: string | null;
  /** Why the payment is unmatched; null for an overpayment. */
  reason: Reason | null;
  /**
   * Calldata of the transfer, to be sent to the token; null while the payment is not final, when nothing may be sent.
   */
  data: Hex | null;
  /** The payer paid several merchants of this partner, as an exchange does for its customers. */
  manyMerchants: boolean;
  /** The payment. */
  row: TransferRow;
  /** Its refund; null while none is started. */
  refund: RefundRow | null;
  /**
   * The recorded transaction if no endpoint knows it after two minutes, for example because it was mistyped. It can be
   * replaced.
   */
  unknownHash: string | null;
};

/** A `PreparedRefund` before its token is named: the symbol is null if CHAINS_FILE lacks the token. */
type UnnamedRefund = Omit<PreparedRefund, 'token'> & { token: { address: Hex; symbol: string | null } };

/** At most this many transfers of a payer are read. */
const payerTransferLimit = 1_000;
/** How long the network may take to propagate a transaction that was just sent. */
const mayBeNewMs = 120_000;
/** How long a person waits for the name of a token. */
const nameMs = 2_000;
/** A person rarely pays more merchants of one partner than this; an exchange's wallet does. */
const manyAccounts = 3;

/**
 * Prepares a transfer that refunds a payment to its sender: all of an unmatched one, or the surplus of an overpaid
 * request. Offer it only once the refund is started (`startRefund`). It has calldata only while the payment is final.
 * This queries the endpoints, so no transaction may be open.
 *
 * @param accountId the merchant who decides: the payment must be theirs
 * @throws Refusal not_found, also when there is nothing to refund
 */
export async function prepareRefund(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<PreparedRefund> {
  const prepared = await lookUpRecorded(ctx, await withName(await readPrepared(ctx, scope, accountId, key)));
  const { refund, toAddress, usdcMicro, row } = prepared;
  if (isRefundSent(refund) || !(await isFinalPayment(ctx, row))) return prepared;
  const args = [toAddress as Hex, usdcMicro] as const;
  return { ...prepared, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) };
}

/** What can be refunded, as stored, without checking whether it is final. */
async function readPrepared(ctx: Context, scope: Scope, accountId: string, key: TransferKey): Promise<UnnamedRefund> {
  const chain = findChain(ctx.chains[modeOf(scope.testMode)], key.chainId);
  return ctx.db.scoped(scope, async (tx) => {
    const row = await selectTransfer(tx, scope, key);
    const usdcMicro = row && row.account_id === accountId ? await refundableMicro(tx, scope, row) : 0n;
    const token = chain?.tokens.find(({ address }) => address === row?.token_address);
    if (!row || !chain || usdcMicro === 0n) throw refuse('not_found');
    const [paid, refund, candidate] = await Promise.all([
      countPaidBy(tx, scope, row.from_address, payerTransferLimit),
      selectRefund(tx, scope, key),
      row.candidate_request_id === null ? null : findRequest(tx, scope, row.candidate_request_id),
    ]);
    return {
      key,
      chain,
      token: token ?? { address: row.token_address as Hex, symbol: null },
      fromAddress: row.to_address,
      toAddress: row.from_address,
      usdcMicro,
      requestId: row.request_id,
      candidateRequestId: candidate?.account_id === accountId ? candidate.id : null,
      reason: row.request_id === null ? (row.reason ?? 'no_match') : null,
      data: null,
      manyMerchants: paid.accounts >= manyAccounts,
      row,
      refund,
      unknownHash: null,
    };
  });
}

/**
 * Names the token as it names itself, if it was removed from CHAINS_FILE since it was paid: the merchant must send that
 * one. If the token does not answer, its address is shown as its name.
 */
async function withName(unnamed: UnnamedRefund): Promise<PreparedRefund> {
  const { chain, token } = unnamed;
  const symbol = token.symbol ?? (await querySymbol(chain, token.address)) ?? token.address;
  return { ...unnamed, token: { ...token, symbol } };
}

async function querySymbol({ rpcUrls: [url] }: ChainConfig, address: Hex): Promise<string | null> {
  if (url === undefined) return null;
  return (await readTokenFacts(connectRpc(url, nameMs), address)).symbol;
}

/** Asks the endpoints whether they know the recorded transaction, unless they already did or it may be too new. */
async function lookUpRecorded<R extends UnnamedRefund>(ctx: Context, prepared: R): Promise<R> {
  const { refund } = prepared;
  if (refund?.state !== 'sent' || refund.return_tx_hash === null || refund.given_micro !== null) return prepared;
  if (ctx.clock.now().getTime() - (refund.replaced_at ?? refund.noted_at).getTime() < mayBeNewMs) return prepared;
  const lookup = await lookUpRefund(prepared.chain, expectedRefund(prepared, refund.return_tx_hash));
  return lookup.kind === 'unknown' ? { ...prepared, unknownHash: refund.return_tx_hash } : prepared;
}

function expectedRefund(prepared: UnnamedRefund, refundTxHash: string): ExpectedRefund {
  const { token, fromAddress, toAddress, usdcMicro, row } = prepared;
  const sinceBlock = Number(row.block_number);
  return { refundTxHash, tokenAddress: token.address, fromAddress, toAddress, usdcMicro, sinceBlock };
}

/** How much of a transfer can be refunded, in micro units; 0n if nothing can. */
export async function refundableMicro(tx: Tx, scope: Scope, row: TransferRow): Promise<bigint> {
  if (row.judged_at === null || refundObstacle(row) !== null) return 0n;
  if (row.request_id === null) return BigInt(row.value);
  const [request, counted] = await Promise.all([
    findRequest(tx, scope, row.request_id),
    selectCounted(tx, scope, row.request_id),
  ]);
  // Until the request is verified, a reorganisation could still remove the payment.
  if (request?.proof_status !== 'verified') return 0n;
  const all = surpluses(counted, BigInt(request.usdc_micro), request.proof_verified_at);
  return all.find(({ transfer }) => isSameTransfer(keyOf(transfer), keyOf(row)))?.micro ?? 0n;
}

/**
 * Why a transaction is not recorded. `other`: it moves nothing from the merchant's wallet to the payer. `too_many`: it
 * already refunds as many payments of this payer as it may.
 */
export type RefundFault = 'malformed' | 'already_refunded' | 'too_many' | 'failed' | 'other';

/** A transaction that was checked on the chain, ready to be recorded; or why it cannot be. */
export type CheckedRefund = { prepared: UnnamedRefund } & (
  | { fault: RefundFault }
  | { fault: null; refundTxHash: string; lookup: RefundLookup }
);

/**
 * Looks up a transaction that is claimed to refund a payment. One that no chain knows yet is accepted: it is looked up
 * again (`followRefunds`), and can be replaced until then.
 *
 * @param typed `elsewhere`: the merchant sent it from another wallet, or to another address of the payer, so the chain
 * cannot show that it refunded this payment
 * @throws Refusal not_found as `prepareRefund`
 */
export async function checkRefund(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
  typed: { refundTxHash: string; elsewhere: boolean },
): Promise<CheckedRefund> {
  const prepared = await lookUpRecorded(ctx, await readPrepared(ctx, scope, accountId, key));
  const { refund, unknownHash } = prepared;
  const refundTxHash = typed.refundTxHash.trim().toLowerCase();
  if (!isHash32(refundTxHash) || refundTxHash === key.txHash) return { prepared, fault: 'malformed' };
  const standing = isRefundSent(refund) && refund?.state !== 'other';
  if (standing && (unknownHash === null || unknownHash === refundTxHash))
    return { prepared, fault: 'already_refunded' };
  const lookup = await lookUpRefund(prepared.chain, expectedRefund(prepared, refundTxHash));
  if (lookup.kind === 'failed' || (lookup.kind === 'other' && !typed.elsewhere))
    return { prepared, fault: lookup.kind };
  return { prepared, fault: null, refundTxHash, lookup };
}

/**
 * Records the transaction that refunds a payment, and starts the refund if nobody has. One transaction may refund
 * several payments, as far as it moved enough for all of them.
 *
 * @param actor who is named in the audit log
 * @returns null when it is recorded; `already_refunded` also when the transaction went to others
 * @throws Refusal not_found when the payment was attached meanwhile, or removed by a reorganisation
 */
export async function recordRefund(
  ctx: Context,
  actor: Actor,
  scope: Scope,
  accountId: string,
  { prepared, refundTxHash, lookup }: Extract<CheckedRefund, { fault: null }>,
): Promise<'already_refunded' | 'too_many' | null> {
  const { key, requestId, fromAddress, toAddress, usdcMicro, unknownHash } = prepared;
  const recordedAt = ctx.clock.now();
  const tokenAddress = prepared.token.address;
  const group = { chainId: key.chainId, refundTxHash, tokenAddress, fromAddress, toAddress };
  const state = lookup.kind === 'other' ? 'other' : lookup.kind === 'refunds' && lookup.final ? 'confirmed' : 'sent';
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key, accountId);
      if (row?.request_id !== requestId) throw refuse('not_found');
      await lockGroup(tx, scope, group);
      if (await isGroupFull(tx, scope, group, key)) return 'too_many';
      const shares = lookup.kind === 'refunds' ? await sharesWith(tx, scope, group, lookup, { key, usdcMicro }) : [];
      if (shares.some(({ own, micro }) => own && micro === 0n)) return 'already_refunded';
      await insertRefund(tx, scope, {
        ...key,
        accountId,
        requestId,
        tokenAddress,
        fromAddress,
        toAddress,
        usdcMicro,
        recordedAt,
      });
      if (!(await updateRefundTransaction(tx, scope, key, { refundTxHash, state, recordedAt }, unknownHash)))
        return 'already_refunded';
      if (shares.length > 0) await updateRefundedMicro(tx, scope, group, shares);
      await audit(ctx, tx, actor, {
        ...scope,
        action: 'payment.returned',
        object: { kind: 'payment', id: writeTransferKey(key) },
        details: {
          request: requestId,
          usdc_micro: usdcMicro.toString(),
          transaction: refundTxHash,
          ...(unknownHash !== null && { replaces: unknownHash }),
        },
      });
      return null;
    }),
  );
}

/** Each payment's part of a transaction: first the payments it was already recorded for, then this one. */
async function sharesWith(
  tx: Tx,
  scope: Scope,
  group: RefundGroup,
  { movedMicro, minedIn }: Extract<RefundLookup, { kind: 'refunds' }>,
  own: { key: TransferKey; usdcMicro: bigint },
): Promise<{ key: TransferKey; own: boolean; micro: bigint }[]> {
  const rows = await selectGroup(tx, scope, group, minedIn);
  const others = rows
    .map((row) => ({ key: keyOf(row), usdcMicro: BigInt(row.usdc_micro), own: false }))
    .filter(({ key }) => !isSameTransfer(key, own.key));
  const all = [...others, { ...own, own: true }];
  const shares = allocateRefund(movedMicro, all);
  return all.map(({ key, own: isOwn }, index) => ({ key, own: isOwn, micro: shares[index] ?? 0n }));
}
