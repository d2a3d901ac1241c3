import { setImmediate } from 'node:timers/promises';
import { allChains, type ChainConfig, findChain, limitsOf } from '../../config/chains.ts';
import type { Context } from '../../context.ts';
import { isUnreachable } from '../../db/connection.ts';
import { chunksOf } from '../../lib/chunks.ts';
import { mapLimited } from '../../lib/concurrency/map-limited.ts';
import { type Hex, RpcError } from '../rpc.ts';
import { signerOf } from './account.ts';
import { type AccountState, selectAccount } from './account-store.ts';
import { broadcastAll } from './broadcast.ts';
import { firstOffer, type Offer } from './fees.ts';
import { signCall } from './sign.ts';
import {
  hexOf,
  insertVariants,
  type RelayRow,
  type SignedCall,
  selectRelays,
  selectVariants,
  updateTried,
  updateUnsigned,
  type Variant,
} from './store.ts';

/** Nodes keep only this many unmined transactions of one sender; later ones wait here. */
const maxInFlight = 128;
/** How many calls are signed, stored and sent together. While they are sent, the next ones are signed. */
const batchSize = 25;
const batchesAtOnce = 2;
/** How many calls are signed at once. */
const signaturesAtOnce = 4;

/**
 * How long whoever enqueued a call may take to dispatch it. A later one is left to the loop, which first asks whether
 * it is still wanted: a process can be stopped between the two.
 */
const maxLateMs = 10_000;

/**
 * Signs a call that was just enqueued, stores the signed transaction with its hash, and only then broadcasts it. What
 * fails, or comes too late, is done by the loop.
 */
export const dispatch = (ctx: Context, relayId: string): Promise<void> => dispatchAll(ctx, [relayId]);

/** As `dispatch`, for several calls, in their nonces' order. */
export async function dispatchAll(ctx: Context, relayIds: readonly string[]): Promise<void> {
  const rows = (await selectRelays(ctx.db.sql, relayIds)).filter((row) => row.allotted_ms < maxLateMs);
  const byAccount = Map.groupBy(rows, (row) => `${row.chain_id} ${row.from_address}`);
  for (const part of byAccount.values()) {
    const { chain_id, from_address: address } = part[0] as RelayRow;
    const chain = findChain(allChains(ctx.chains), chain_id);
    const account = chain && (await selectAccount(ctx.db.sql, { chainId: chain.chainId, address }));
    if (chain && account) await dispatchRows(ctx, chain, part, account, new Set());
  }
}

/**
 * As `dispatchAll`, for calls of one account that were read already.
 *
 * @param overtaken those whose nonces are only to be used up, if they are not signed yet
 */
export async function dispatchRows(
  ctx: Context,
  chain: ChainConfig,
  rows: readonly RelayRow[],
  account: AccountState,
  overtaken: ReadonlySet<string>,
): Promise<void> {
  const near = rows.filter(({ nonce }) => Number(nonce) < account.chainNonce + maxInFlight);
  const unreached = near.filter((row) => row.state === 'sent' && !row.reached);
  await rebroadcast(ctx, chain, unreached, false);
  const offer = firstOffer(account, limitsOf(chain));
  const unsigned = near
    .filter((row) => row.state === 'allotted')
    .map((row) => ({ row, offer, cancels: overtaken.has(row.id) }));
  await sendVariants(ctx, chain, unsigned, account.head);
}

/** A transfer of zero value to the sender itself, in place of a call. */
export const zeroTransfer = (from: Hex) => ({ to: from, data: '0x' as Hex, gas: 21_000n });

/** The next variant of a call: its offer, and whether it is a transfer of zero value in the call's place. */
export type NextVariant = { row: RelayRow; offer: Offer; cancels: boolean };

/**
 * Signs another variant of each call, stores it, and broadcasts it, unless another process was faster.
 *
 * @returns how many were broadcast
 */
export async function sendVariants(
  ctx: Context,
  chain: ChainConfig,
  next: readonly NextVariant[],
  head: number,
): Promise<number> {
  const counts = await mapLimited(chunksOf(next, batchSize), batchesAtOnce, async (part) => {
    const signed = await mapLimited(part, signaturesAtOnce, (one) => sign(ctx, chain, one));
    const kept = await storeSigned(
      ctx,
      signed.filter((one) => one !== null),
      head,
    );
    const isLater = ({ row }: SignedCall) => row.state === 'sent';
    const first = kept.filter((one) => !isLater(one));
    await broadcastCalls(ctx, chain, first.map(toBroadcast), false);
    // A later variant is for nodes that may not have seen the first: all endpoints get it.
    await broadcastCalls(ctx, chain, kept.filter(isLater).map(toBroadcast), true);
    return kept.length;
  });
  return counts.reduce((all, count) => all + count, 0);
}

async function sign(
  ctx: Context,
  chain: ChainConfig,
  { row, offer, cancels }: NextVariant,
): Promise<SignedCall | null> {
  const signer = signerOf(ctx, row.from_address);
  if (!signer) {
    await updateUnsigned(ctx.db.sql, row.id, { trouble: 'the key of this address is not configured', refused: false });
    return null;
  }
  await setImmediate(); // a signature blocks the process for a millisecond, so other work gets its turn first
  const call = cancels
    ? zeroTransfer(row.from_address)
    : { to: row.to_address, data: hexOf(row.data), gas: BigInt(row.gas) };
  const unsigned = { ...call, ...offer, chainId: chain.chainId, nonce: Number(row.nonce) };
  try {
    return { row, variant: { ...offer, ...(await signCall(signer, unsigned)), cancels } };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    ctx.log.warn({ err: error, relay_id: row.id }, 'a relayed call could not be signed');
    await updateUnsigned(ctx.db.sql, row.id, { trouble: error.message, refused: isRefusal(error) });
    return null;
  }
}

/** A signer that answers has refused this call; one that does not answer may sign it later. */
const isRefusal = ({ kind }: RpcError) => kind === 'refused' || kind === 'malformed' || kind === 'too_large';

/** Stores what was signed; returns what must be broadcast. One that cannot be stored does not delay the others. */
async function storeSigned(ctx: Context, signed: readonly SignedCall[], head: number): Promise<SignedCall[]> {
  if (signed.length === 0) return [];
  try {
    const kept = await ctx.db.transaction((tx) => insertVariants(tx, signed, head));
    return signed.filter(({ row }) => kept.has(row.id));
  } catch (error) {
    if (isUnreachable(error)) throw error;
    const [only] = signed;
    if (signed.length === 1) {
      ctx.log.error({ err: error, relay_id: only?.row.id }, 'a signed call could not be stored');
      return [];
    }
    return (await mapLimited(signed, 1, (one) => storeSigned(ctx, [one], head))).flat();
  }
}

/** Sends the newest variant of each call again. */
export async function rebroadcast(ctx: Context, chain: ChainConfig, rows: readonly RelayRow[], all: boolean) {
  const variants = await selectVariants(
    ctx.db.sql,
    rows.map(({ id }) => id),
  );
  const newest = rows.flatMap(({ id, hash }) => {
    const variant = variants.get(id)?.find((one) => one.hash === hash);
    return variant ? [{ id, hash: variant.hash, signed: variant.signed }] : [];
  });
  await broadcastCalls(ctx, chain, newest, all);
}

type ToBroadcast = { id: string } & Pick<Variant, 'signed' | 'hash'>;
const toBroadcast = ({ row, variant }: SignedCall): ToBroadcast => ({ ...variant, id: row.id });

async function broadcastCalls(
  ctx: Context,
  chain: ChainConfig,
  calls: readonly ToBroadcast[],
  all: boolean,
): Promise<void> {
  if (calls.length === 0) return;
  const answers = await broadcastAll(
    chain,
    calls.map(({ signed }) => signed),
    all,
  );
  const tried = calls.map(({ id, hash }, i) => {
    const answer = answers[i];
    const trouble = !answer || answer.kind === 'accepted' ? null : `${answer.kind}: ${answer.message}`;
    return { id, hash, trouble, refused: answer?.kind === 'refused' };
  });
  await updateTried(ctx.db.sql, tried);
}
