import { type ChainConfig, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import type { Hex } from '../rpc.ts';
import { signerOf } from './account.ts';
import { broadcast } from './broadcast.ts';
import { firstOffer, type Offer } from './fees.ts';
import { signCall } from './sign.ts';
import {
  hexOf,
  insertVariant,
  type RelayRow,
  selectAccount,
  selectRelay,
  selectVariants,
  updateTried,
  type Variant,
} from './store.ts';

/**
 * Signs a call, stores the signed transaction with its hash, and only then broadcasts it. Can be called again at any
 * time; what fails is repeated by the loop.
 */
export async function dispatch(ctx: Context, relayId: string): Promise<void> {
  const row = await selectRelay(ctx.db.sql, relayId);
  const chain = row && [...ctx.chains.test, ...ctx.chains.live].find((one) => one.chainId === Number(row.chain_id));
  if (!row || !chain) return;
  if (row.state === 'sent' && !row.reached) return rebroadcast(ctx, chain, row, false);
  if (row.state !== 'allotted') return;
  const account = await selectAccount(ctx.db.sql, { chainId: chain.chainId, address: row.from_address });
  if (!account) return;
  const asked = { baseFeeWei: BigInt(account.base_fee_wei), priorityFeeWei: BigInt(account.priority_fee_wei) };
  const head = Number(account.head_number);
  const variant = await signVariant(ctx, chain, row, firstOffer(asked, limitsOf(chain)), head);
  if (variant) await hand(ctx, chain, row.id, variant, false);
}

/** Signs another variant and stores it; null when there is no key, or another process was faster. */
export async function signVariant(
  ctx: Context,
  chain: ChainConfig,
  row: RelayRow,
  offer: Offer,
  head: number,
): Promise<Variant | null> {
  const signer = signerOf(ctx, row.from_address);
  if (!signer) return null;
  const call = {
    ...{ chainId: chain.chainId, nonce: Number(row.nonce), to: row.to_address },
    ...{ data: hexOf(row.data), gas: BigInt(row.gas) },
  };
  const variant = { ...offer, ...(await signCall(signer, { ...call, ...offer })) };
  const isOurs = await ctx.db.transaction((tx) => insertVariant(tx, row, row.hash, variant, head));
  return isOurs ? variant : null;
}

/** Hands on the newest variant again. */
export async function rebroadcast(ctx: Context, chain: ChainConfig, row: RelayRow, all: boolean): Promise<void> {
  const variants = await selectVariants(ctx.db.sql, [row.id]);
  const newest = variants.find(({ hash }) => hash === row.hash);
  if (newest) await hand(ctx, chain, row.id, newest, all);
}

async function hand(
  ctx: Context,
  chain: ChainConfig,
  id: string,
  { signed, hash }: { signed: Hex; hash: Hex },
  all: boolean,
): Promise<void> {
  const answer = await broadcast(chain, signed, all);
  await updateTried(ctx.db.sql, id, hash, answer.kind === 'taken' ? null : `${answer.kind}: ${answer.words}`);
}
