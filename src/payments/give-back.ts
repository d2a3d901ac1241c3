import { encodeFunctionData, erc20Abi, type Hex, zeroAddress } from 'viem';
import type { ChainConfig, TokenConfig } from '../chain/config.ts';
import type { Context } from '../context.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { insist } from './busy.ts';
import { insertReturn, lockTransfer, type ReturnRow, selectPayerReach, selectReturn } from './merchant-store.ts';
import type { Reason } from './rules.ts';
import { sumMicro } from './rules.ts';
import { selectCounted, selectDue, selectTransfer, type TransferKey, type TransferRow } from './store.ts';

/** What became of the wish to give a payment back, before anything is sent. */
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
  /** Why the payment is unmatched; null for an overpayment. */
  reason: Reason | null;
  /** Calldata of the transfer, to be sent to the token. */
  data: Hex;
  /** The payer paid several merchants of this partner, as an exchange does for its customers. */
  manyMerchants: boolean;
  /** Noted before; null while it is not given back. */
  given: ReturnRow | null;
};

/** So many transfers of a payer are looked at. */
const reachLimit = 1_000;
/** A person rarely pays more merchants of one partner than this; an exchange's wallet does. */
const manyAccounts = 3;

/**
 * Prepares a transfer that gives a payment back to who sent it: an unmatched one, or what an overpaid request got too much.
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
  const chain = ctx.chains[scope.testMode ? 'test' : 'live'].find(({ chainId }) => chainId === key.chainId);
  return ctx.db.scoped(scope, async (tx) => {
    const row = await selectTransfer(tx, scope, key);
    const usdcMicro = row && row.account_id === accountId ? await returnableMicro(tx, scope, row) : 0n;
    const token = chain?.tokens.find(({ address }) => address === row?.token_address);
    if (!row || !chain || !token || usdcMicro === 0n) throw refuse('not_found');
    const [reach, given] = await Promise.all([
      selectPayerReach(tx, scope, row.from_address, reachLimit),
      selectReturn(tx, scope, key),
    ]);
    return {
      key,
      chain,
      token,
      fromAddress: row.to_address,
      toAddress: row.from_address,
      usdcMicro,
      requestId: row.request_id,
      reason: row.request_id === null ? (row.reason ?? 'no_match') : null,
      data: encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transfer',
        args: [row.from_address as Hex, usdcMicro],
      }),
      manyMerchants: reach.accounts >= manyAccounts,
      given,
    };
  });
}

/** What of a transfer can be given back, in micro units; 0n when nothing can. */
async function returnableMicro(tx: Tx, scope: Scope, row: TransferRow): Promise<bigint> {
  const nobody = row.from_address === zeroAddress || row.from_address === row.to_address;
  if (row.judged_at === null || nobody || row.reason === 'wrong_token') return 0n;
  if (row.request_id === null) return BigInt(row.value);
  const [due, counted] = await Promise.all([
    selectDue(tx, scope, row.request_id),
    selectCounted(tx, scope, row.request_id),
  ]);
  const last = counted.at(-1);
  if (due === null || !last || last.tx_hash !== row.tx_hash || last.ordinal !== row.ordinal) return 0n;
  const overMicro = sumMicro(counted) - due;
  const valueMicro = BigInt(row.value);
  return overMicro <= 0n ? 0n : overMicro < valueMicro ? overMicro : valueMicro;
}

export type ReturnOutcome = 'noted' | 'malformed' | 'already_given';

/**
 * Notes that a payment was given back, by the hash of the transaction that did it. It is the merchant's word: nothing is
 * looked up. From then on the payment can no longer be attached to a request.
 *
 * @throws Refusal not_found as `offerReturn`
 */
export async function noteReturn(
  ctx: Context,
  scope: Scope,
  accountId: string,
  note: TransferKey & { returnTxHash: string },
): Promise<{ outcome: ReturnOutcome; offer: ReturnOffer }> {
  const { chainId, txHash, ordinal } = note;
  const key: TransferKey = { chainId, txHash, ordinal };
  const offer = await offerReturn(ctx, scope, accountId, key);
  const returnTxHash = note.returnTxHash.trim().toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(returnTxHash) || returnTxHash === txHash) return { outcome: 'malformed', offer };
  const noted = await insist(() =>
    ctx.db.scoped(scope, async (tx) => {
      const row = await lockTransfer(tx, scope, key);
      // Attached meanwhile, or taken away by the network.
      if (row?.request_id !== offer.requestId) throw refuse('not_found');
      const { requestId, toAddress, usdcMicro } = offer;
      const notedAt = ctx.clock.now();
      return insertReturn(tx, scope, { ...key, accountId, requestId, toAddress, usdcMicro, returnTxHash, notedAt });
    }),
  );
  return { outcome: noted ? 'noted' : 'already_given', offer };
}
