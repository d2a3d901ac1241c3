import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { type Hex, RpcError } from '../rpc.ts';
import { signerOf } from './account.ts';
import { type AccountState, selectAccount } from './account-store.ts';
import { broadcast } from './broadcast.ts';
import { firstOffer, type Offer } from './fees.ts';
import { signCall } from './sign.ts';
import {
  hexOf,
  insertVariant,
  type RelayRow,
  selectRelay,
  selectVariants,
  updateTried,
  updateUnsigned,
  type Variant,
} from './store.ts';

/** Nodes keep only so many transactions of one sender that are not mined; later ones wait here. */
const mostUnderWay = 128;

/**
 * Signs a call, stores the signed transaction with its hash, and only then broadcasts it. Can be called again at any
 * time; what fails is repeated by the loop.
 */
export async function dispatch(ctx: Context, relayId: string): Promise<void> {
  const row = await selectRelay(ctx.db.sql, relayId);
  const chain = row && [...ctx.chains.test, ...ctx.chains.live].find((one) => one.chainId === Number(row.chain_id));
  if (!row || !chain) return;
  const account = await selectAccount(ctx.db.sql, { chainId: chain.chainId, address: row.from_address });
  if (account) await dispatchRow(ctx, chain, row, account);
}

/** The same for a call that was read already. */
export async function dispatchRow(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  account: AccountState,
): Promise<void> {
  if (Number(row.nonce) >= account.chainNonce + mostUnderWay) return;
  if (row.state === 'sent' && !row.reached) return rebroadcast(ctx, chain, row, false);
  if (row.state === 'allotted') await sendVariant(ctx, chain, row, firstOffer(account, limitsOf(chain)), account.head);
}

/** A transfer of nothing to the sender itself, in place of a call. */
export const nothing = (from: Hex) => ({ to: from, data: '0x' as Hex, gas: 21_000n });

/** Signs another variant of a call, stores it, and broadcasts it, unless another process was faster. */
export async function sendVariant(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  offer: Offer,
  head: number,
  cancels = false,
): Promise<void> {
  const signer = signerOf(ctx, row.from_address);
  if (!signer) return updateUnsigned(ctx.db.sql, row.id, 'the key of this address is not configured');
  const call = cancels
    ? nothing(row.from_address)
    : { to: row.to_address, data: hexOf(row.data), gas: BigInt(row.gas) };
  const unsigned = { ...call, ...offer, chainId: chain.chainId, nonce: Number(row.nonce) };
  let variant: Variant;
  try {
    variant = { ...offer, ...(await signCall(signer, unsigned)), cancels };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    ctx.log.warn({ err: error, relay_id: row.id }, 'a relayed call could not be signed');
    return updateUnsigned(ctx.db.sql, row.id, error.message);
  }
  const isOurs = await ctx.db.transaction((tx) => insertVariant(tx, row, variant, head));
  // A later variant is for nodes that may not have seen the first: all endpoints get it.
  if (isOurs) await handOn(ctx, chain, row.id, variant, row.state === 'sent');
}

/** Hands on the newest variant again. */
export async function rebroadcast(ctx: Context, chain: ChainConfig, row: RelayRow, all: boolean): Promise<void> {
  const variants = (await selectVariants(ctx.db.sql, [row.id])).get(row.id);
  const newest = variants?.find(({ hash }) => hash === row.hash);
  if (newest) await handOn(ctx, chain, row.id, newest, all);
}

async function handOn(
  ctx: Context,
  chain: ChainConfig,
  id: string,
  { signed, hash }: Pick<Variant, 'signed' | 'hash'>,
  all: boolean,
): Promise<void> {
  const answer = await broadcast(chain, signed, all);
  const trouble = answer.kind === 'taken' ? null : `${answer.kind}: ${answer.words}`;
  await updateTried(ctx.db.sql, { id, hash }, trouble, answer.kind === 'refused');
}
