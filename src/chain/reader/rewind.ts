import { type Header, RpcError } from '../rpc.ts';
import { findFault } from '../tokens.ts';
import { selectKnownBlock } from './checkpoints-store.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';
import * as store from './store.ts';

/**
 * Walks back from the cursor to the last block that the provider's chain shares with what was read, and removes
 * everything after it. If even the oldest stored block is not shared, reading restarts at the newest checkpoint or
 * block of a payment that is.
 *
 * @returns the new cursor
 * @throws ProviderFault when the provider contradicts itself, another provider or the configuration
 */
export async function rewind(
  reader: Reader,
  provider: RpcProvider,
  at: store.Cursor,
  head: Header,
  progress: store.Progress,
): Promise<store.Cursor> {
  const { db, chain } = reader;
  // An endpoint that now leads to another chain also shows other blocks. All blocks that were read would be given up.
  const fault = await findFault(chain, provider.rpc);
  if (fault) throw new ProviderFault(fault);
  const blocks = await store.selectBlocks(db, chain.chainId);
  const top = Math.min(at.number, head.number);
  await querySecondEndpoint(reader, provider, await selectKnownBlock(db, chain.chainId, top));
  const { ancestor, shared } = await findAncestor(provider, blocks, top, head);
  if (shared && ancestor.number === at.number) {
    throw new ProviderFault(`block ${at.number} is on its chain, but not the parent of the next`);
  }
  const to = shared ? ancestor : await findDeeper(reader, provider, ancestor);
  const depth = at.number - to.number;
  const move = { from: at, to, progress, lostBlocks: shared ? null : depth };
  await store.rewindTo(db, chain.chainId, reader.lease, move, reader.hooks.onRemoved);
  reader.log.warn({ chain: chain.chainId, depth, block: to.number }, 'the chain was reorganised');
  return { number: to.number, hash: to.hash };
}

/**
 * From where to read again where no stored block is on the chain any more: a false chain can be longer than the stored
 * blocks reach. The checkpoints below them, and the blocks of payments that are not final, are searched for the newest
 * one that is on the chain: all below it are on the chain too.
 *
 * @param before the block before the oldest stored one
 * @throws ProviderFault, RpcError
 */
async function findDeeper(reader: Reader, provider: RpcProvider, before: Header): Promise<Header> {
  const blocks = await store.selectKnownBlocks(reader.db, reader.chain.chainId, before.number);
  const readHeader = async (number: number) => {
    const header = number === before.number ? before : await provider.rpc.header(number);
    if (header?.number !== number) throw new ProviderFault(`it does not have block ${number} below its head`);
    return header;
  };
  let found: Header | null = null;
  let [gone, end] = [0, blocks.length];
  while (gone < end) {
    const middle = Math.floor((gone + end) / 2);
    const block = blocks[middle] as store.Cursor;
    const header = await readHeader(block.number);
    if (header.hash === block.hash) [found, end] = [header, middle];
    else gone = middle + 1;
  }
  if (blocks.length === 0) return before;
  return found ?? readHeader(Math.max(0, (blocks.at(-1) as store.Cursor).number - 1));
}

/** One provider alone cannot remove blocks that another still has. */
async function querySecondEndpoint(reader: Reader, provider: RpcProvider, ours: store.Cursor | null) {
  const other = reader.pool.other(provider);
  if (!other || !ours) return;
  let theirs: Header | null;
  try {
    theirs = await other.rpc.header(ours.number);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    reader.pool.failed(other, error);
    return;
  }
  if (theirs?.hash === ours.hash)
    throw new ProviderFault(`${other.rpc.host} still has the block ${ours.number} that it took back`);
}

async function findAncestor(
  provider: RpcProvider,
  blocks: ReadonlyMap<number, string>,
  top: number,
  head: Header,
): Promise<{ ancestor: Header; shared: boolean }> {
  const oldest = Math.min(top, ...blocks.keys());
  let child: Header | null = null;
  for (let number = top; number >= 0; number--) {
    const header: Header | null = number === head.number ? head : await provider.rpc.header(number);
    if (!header || header.number !== number) throw new ProviderFault(`it does not have block ${number} below its head`);
    if (child && child.parentHash !== header.hash)
      throw new ProviderFault(`its block ${number} is not the parent of the next`);
    if (blocks.get(number) === header.hash) return { ancestor: header, shared: true };
    if (number < oldest) return { ancestor: header, shared: false };
    child = header;
  }
  if (!child) throw new ProviderFault('it has no blocks');
  return { ancestor: child, shared: false };
}
