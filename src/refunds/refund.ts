import { encodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem';
import type { ChainConfig, TokenConfig } from '../config/chains.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { modeOf } from '../lib/mode.ts';
import { isFirm } from '../payments/proof/firm.ts';
import type { Reason } from '../payments/rules.ts';
import { sumMicro } from '../payments/rules.ts';
import {
  isSameTransfer,
  keyOf,
  lockTransfer,
  selectCounted,
  selectPayerReach,
  selectTransfer,
  type TransferKey,
  type TransferRow,
} from '../payments/transfers.ts';
import { findRequest } from '../requests/proof.ts';
import { lookForReturn, type ReturnSight, type WantedReturn } from './lookup.ts';
import { shareReturn } from './share.ts';
import {
  insertTaken,
  isGroupFull,
  lockGroup,
  type ReturnGroup,
  type ReturnRow,
  selectGroup,
  selectReturn,
  standsReturned,
  updateGiven,
  updateNoted,
} from './store.ts';

/** How a payment can be given back. */
export type ReturnOffer = {
  key: TransferKey;
  chain: ChainConfig;
  token: TokenConfig;
  /** The merchant's wallet that the money reached. */
  fromAddress: string;
  /** Who paid. */
  toAddress: string;
  /** All of a payment that pays nothing, or what came too much. */
  usdcMicro: bigint;
  /** The request that was overpaid; null for an unmatched payment. */
  requestId: string | null;
  /** The merchant's request that an unmatched payment seems meant for. */
  candidateRequestId: string | null;
  /** Why the payment is unmatched; null for an overpayment. */
  reason: Reason | null;
  /** Calldata of the transfer, to be sent to the token; null while the payment is not firm: nothing is to be sent then. */
  data: Hex | null;
  /** The payer paid several merchants of this partner, as an exchange does for its customers. */
  manyMerchants: boolean;
  /** The payment. */
  row: TransferRow;
  /** That it is taken, and what is noted of giving it back; null while it is not taken. */
  given: ReturnRow | null;
  /** The noted transaction when no endpoint knows it after two minutes, as when it was mistyped: another can take its place. */
  unknownHash: string | null;
};

/** So many transfers of a payer are looked at. */
const reachLimit = 1_000;
/** So long the network may take to pass on what was sent just now. */
const mayBeNewMs = 120_000;
/** A person rarely pays more merchants of one partner than this; an exchange's wallet does. */
const manyAccounts = 3;

/**
 * Prepares a transfer that gives a payment back to who sent it: an unmatched one, or what an overpaid request got too much.
 * It is to be offered only once the payment is taken (`takeForReturn`), and has calldata only while the payment is firm: the
 * endpoints are asked, so no transaction may be open.
 *
 * @param accountId the merchant who decides: the payment must be theirs
 * @throws Refusal not_found, also when there is nothing to give back
 */
export async function offerReturn(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
): Promise<ReturnOffer> {
  const offer = await askForNoted(ctx, await readOffer(ctx, scope, accountId, key));
  const { given, toAddress, usdcMicro, row } = offer;
  if (standsReturned(given) || !(await isFirm(ctx, row))) return offer;
  const args = [toAddress as Hex, usdcMicro] as const;
  return { ...offer, data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }) };
}

/** What can be given back, as it is stored; whether it is firm is not asked. */
async function readOffer(ctx: Context, scope: Scope, accountId: string, key: TransferKey): Promise<ReturnOffer> {
  const chain = ctx.chains[modeOf(scope.testMode)].find(({ chainId }) => chainId === key.chainId);
  return ctx.db.scoped(scope, async (tx) => {
    const row = await selectTransfer(tx, scope, key);
    const usdcMicro = row && row.account_id === accountId ? await returnableMicro(tx, scope, row) : 0n;
    const token = chain?.tokens.find(({ address }) => address === row?.token_address);
    if (!row || !chain || !token || usdcMicro === 0n) throw refuse('not_found');
    const [reach, given, candidate] = await Promise.all([
      selectPayerReach(tx, scope, row.from_address, reachLimit),
      selectReturn(tx, scope, key),
      row.candidate_request_id === null ? null : findRequest(tx, scope, row.candidate_request_id),
    ]);
    return {
      key,
      chain,
      token,
      fromAddress: row.to_address,
      toAddress: row.from_address,
      usdcMicro,
      requestId: row.request_id,
      candidateRequestId: candidate?.account_id === accountId ? candidate.id : null,
      reason: row.request_id === null ? (row.reason ?? 'no_match') : null,
      data: null,
      manyMerchants: reach.accounts >= manyAccounts,
      row,
      given,
      unknownHash: null,
    };
  });
}

/** Asks the endpoints whether they know the transaction that is noted, unless they did before or it may be new to them. */
async function askForNoted(ctx: Context, offer: ReturnOffer): Promise<ReturnOffer> {
  const { given } = offer;
  if (given?.state !== 'sent' || given.return_tx_hash === null || given.given_micro !== null) return offer;
  if (ctx.clock.now().getTime() - (given.replaced_at ?? given.noted_at).getTime() < mayBeNewMs) return offer;
  const sight = await lookForReturn(ctx, offer.chain, wantedReturn(offer, given.return_tx_hash));
  return sight.kind === 'unknown' ? { ...offer, unknownHash: given.return_tx_hash } : offer;
}

function wantedReturn(offer: ReturnOffer, returnTxHash: string): WantedReturn {
  const { token, fromAddress, toAddress, usdcMicro, row } = offer;
  const sinceBlock = Number(row.block_number);
  return { returnTxHash, tokenAddress: token.address, fromAddress, toAddress, usdcMicro, sinceBlock };
}

/** What of a transfer can be given back, in micro units; 0n when nothing can. */
export async function returnableMicro(tx: Tx, scope: Scope, row: TransferRow): Promise<bigint> {
  const nobody = row.from_address === zeroAddress || row.from_address === row.to_address;
  if (row.judged_at === null || nobody || row.reason === 'wrong_token') return 0n;
  if (row.request_id === null) return BigInt(row.value);
  const [request, counted] = await Promise.all([
    findRequest(tx, scope, row.request_id),
    selectCounted(tx, scope, row.request_id),
  ]);
  // A part that nobody confirmed is no money yet.
  const settled = counted.filter(({ final_at }) => final_at !== null);
  const last = settled.at(-1);
  // Until it is verified, the network could still take the payment away.
  if (request?.proof_status !== 'verified' || !last || !isSameTransfer(keyOf(last), keyOf(row))) return 0n;
  const overMicro = sumMicro(settled) - BigInt(request.usdc_micro);
  const valueMicro = BigInt(row.value);
  return overMicro <= 0n ? 0n : overMicro < valueMicro ? overMicro : valueMicro;
}

/**
 * Why a transaction is not noted. `other`: it moves nothing from the merchant's wallet to the payer. `too_many`: it is noted
 * for as many payments of this payer as its money is shared out among.
 */
export type ReturnFault = 'malformed' | 'already_given' | 'too_many' | 'failed' | 'other';

/** A transaction that the chain was asked about, ready to be noted; or why it cannot be. */
export type ReturnNote = { offer: ReturnOffer } & (
  | { fault: ReturnFault }
  | { fault: null; returnTxHash: string; sight: ReturnSight }
);

/**
 * Looks a transaction up that is said to have given a payment back. What no chain knows yet is good enough: it is looked
 * for again (`followReturns`), and another one can take its place until then.
 *
 * @param said `elsewhere`: the merchant sent it from another wallet, or to another address of the payer, so the chain cannot
 *   tell that it gave this payment back
 * @throws Refusal not_found as `offerReturn`
 */
export async function checkReturn(
  ctx: Context,
  scope: Scope,
  accountId: string,
  key: TransferKey,
  said: { returnTxHash: string; elsewhere: boolean },
): Promise<ReturnNote> {
  const offer = await askForNoted(ctx, await readOffer(ctx, scope, accountId, key));
  const { given, unknownHash } = offer;
  const returnTxHash = said.returnTxHash.trim().toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(returnTxHash) || returnTxHash === key.txHash) return { offer, fault: 'malformed' };
  const standing = standsReturned(given) && given?.state !== 'other';
  if (standing && (unknownHash === null || unknownHash === returnTxHash)) return { offer, fault: 'already_given' };
  const sight = await lookForReturn(ctx, offer.chain, wantedReturn(offer, returnTxHash));
  if (sight.kind === 'failed' || (sight.kind === 'other' && !said.elsewhere)) return { offer, fault: sight.kind };
  return { offer, fault: null, returnTxHash, sight };
}

/**
 * Notes what gave a payment back; one that nobody took yet is taken by it. One transaction may give back several payments,
 * as far as it moved enough for all of them.
 *
 * @returns null when it is noted; `already_given` also when the transaction went to others
 * @throws Refusal not_found when the payment was attached meanwhile, or taken away by the network
 */
export async function noteReturn(
  ctx: Context,
  scope: Scope,
  accountId: string,
  { offer, returnTxHash, sight }: Extract<ReturnNote, { fault: null }>,
): Promise<'already_given' | 'too_many' | null> {
  const { key, requestId, fromAddress, toAddress, usdcMicro, unknownHash } = offer;
  const notedAt = ctx.clock.now();
  const tokenAddress = offer.token.address;
  const group = { chainId: key.chainId, returnTxHash, tokenAddress, fromAddress, toAddress };
  const state = sight.kind === 'other' ? 'other' : sight.kind === 'gives' && sight.final ? 'confirmed' : 'sent';
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key, accountId);
      if (row?.request_id !== requestId) throw refuse('not_found');
      await lockGroup(tx, scope, group);
      if (await isGroupFull(tx, scope, group, key)) return 'too_many';
      const shares = sight.kind === 'gives' ? await sharesWith(tx, scope, group, sight, { key, usdcMicro }) : [];
      if (shares.some(({ own, micro }) => own && micro === 0n)) return 'already_given';
      await insertTaken(tx, scope, {
        ...key,
        accountId,
        requestId,
        tokenAddress,
        fromAddress,
        toAddress,
        usdcMicro,
        notedAt,
      });
      if (!(await updateNoted(tx, scope, key, { returnTxHash, state, notedAt }, unknownHash))) return 'already_given';
      if (shares.length > 0) await updateGiven(tx, scope, group, shares);
      return null;
    }),
  );
}

/** What each payment has of a transaction, those noted before and then this one. */
async function sharesWith(
  tx: Tx,
  scope: Scope,
  group: ReturnGroup,
  { movedMicro, minedIn }: Extract<ReturnSight, { kind: 'gives' }>,
  own: { key: TransferKey; usdcMicro: bigint },
): Promise<{ key: TransferKey; own: boolean; micro: bigint }[]> {
  const rows = await selectGroup(tx, scope, group, minedIn);
  const others = rows
    .map((row) => ({ key: keyOf(row), usdcMicro: BigInt(row.usdc_micro), own: false }))
    .filter(({ key }) => !isSameTransfer(key, own.key));
  const noted = [...others, { ...own, own: true }];
  const shares = shareReturn(movedMicro, noted);
  return noted.map(({ key, own: isOwn }, index) => ({ key, own: isOwn, micro: shares[index] ?? 0n }));
}
