import { clearAlarm, raiseAlarm } from '../../db/alarms.ts';
import { contractToRead } from '../recurring/contract.ts';
import { type Header, nullOfRpc, type Rpc, RpcError } from '../rpc.ts';
import { type BlockContent, findTransfers, logsOfBlock, watchedLogs } from './find.ts';
import { ProviderFault, type RpcProvider } from './pool.ts';
import type { Reader } from './read.ts';
import { holdCursor, insertTransfers } from './store.ts';
import { readTransaction } from './transaction.ts';
import * as store from './unread-store.ts';

export { isSetAside, isYetToBeRead, requestReread } from './unread-store.ts';

/** Per pass; the rest follows in the next one. */
const passSize = 5;

/**
 * Retries transactions that were set aside, while new blocks are being read. After two minutes the operator is told,
 * and transfers are stored without what their transaction carries: they are matched by amount, or unmatched. One whose
 * position in its transaction is unknown is retried further; one that all endpoints deny is given up after a day.
 *
 * @throws Deposed, database errors
 */
export async function readUnread(reader: Reader): Promise<void> {
  const { db, chain, pool } = reader;
  if (!reader.mayBeUnread) return;
  const provider = pool.pick();
  if (provider?.checked !== 'yes') return;
  for (const row of await store.selectUnread(db, chain.chainId, passSize)) {
    if (reader.signal.aborted) return;
    const read = await tryAgain(reader, provider, row);
    if (read) await save(reader, row, read);
    else await store.putOffUnread(db, chain.chainId, row);
  }
  // Read before asking: what is set aside meanwhile is handled next time.
  reader.mayBeUnread = false;
  const { count, late } = await store.selectUnreadState(db, chain.chainId);
  if (count > 0) reader.mayBeUnread = true;
  const { chainId, name } = chain;
  if (late.length === 0) return clearAlarm(db.sql, 'chain-unread', String(chainId));
  const details = { chainId, chain: name, transactions: late };
  await raiseAlarm(db.sql, { kind: 'chain-unread', subject: String(chainId), details });
}

type Read = BlockContent & { complete: boolean };
const nothing: Read = { transfers: [], unread: [], complete: true };

/** Whether all endpoints answer that a block is not on their chain. */
async function denyBlock(rpcs: readonly Rpc[], row: store.UnreadRow): Promise<boolean> {
  const headers = await Promise.all(rpcs.map((rpc) => rpc.header(Number(row.block_number))));
  return headers.every((header) => header !== null && header.hash !== row.block_hash);
}

/** Null if it must be tried again later. */
async function tryAgain(reader: Reader, provider: RpcProvider, row: store.UnreadRow): Promise<Read | null> {
  const other = reader.pool.other(provider);
  const rpcs = other ? [provider.rpc, other.rpc] : [provider.rpc];
  const owners = new Map(Object.entries(row.owners));
  const contract = contractToRead(reader.chain);
  try {
    const header = await provider.rpc.header(Number(row.block_number));
    // The reader will detect the reorganisation and then remove this, unless an endpoint invented the block long ago.
    if (header?.hash !== row.block_hash) return row.is_stale && (await denyBlock(rpcs, row)) ? nothing : null;
    if (row.tx_hash === '') return await readBlock(reader, provider, header, rpcs);
    const found = row.logs.length > 0 ? { logs: row.logs, owners, rpcs } : await readOmitted(reader, header, row, rpcs);
    if (found === 'denied' && row.is_stale) return nothing;
    if (!found || found === 'denied') return null;
    const read = (acceptsLess: boolean) =>
      readTransaction(header, row.tx_hash, found.logs, { ...found, contract }, acceptsLess);
    const transfers = await read(false);
    if (transfers) return { transfers, unread: [], complete: true };
    const partial = row.is_late ? await read(true) : null;
    return partial && { transfers: partial, unread: [], complete: false };
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ProviderFault)) throw error;
    reader.log.warn({ chain: reader.chain.chainId, tx: row.tx_hash, reason: error.message }, 'still unreadable');
    return null;
  }
}

/**
 * The transfers of a block that the reader missed, from the receipt of the endpoint that reports most of them. That
 * endpoint is also asked first for the rest of the transaction. `denied` if all endpoints answer that the transaction
 * pays no watched wallet in this block; null while one cannot answer.
 */
async function readOmitted(reader: Reader, header: Header, { tx_hash }: store.UnreadRow, rpcs: readonly Rpc[]) {
  await reader.wallets.refresh();
  const { owners } = reader.wallets;
  const tokens = reader.chain.tokens.map(({ address }) => address as string);
  const answers = await Promise.all(
    rpcs.map(async (rpc) => {
      let answered = true;
      const receipt = await rpc.receipt(tx_hash).catch((error) => {
        answered = false;
        return nullOfRpc(error);
      });
      const all = receipt?.success && receipt.blockHash === header.hash ? receipt.logs : [];
      const own = all.filter(({ address }) => tokens.includes(address));
      return { rpc, answered, logs: watchedLogs(own, owners).get(tx_hash) ?? [] };
    }),
  );
  const [most] = answers.sort((a, b) => b.logs.length - a.logs.length);
  if (!most || most.logs.length === 0) return answers.every(({ answered }) => answered) ? 'denied' : null;
  return { logs: most.logs, owners, rpcs: answers.map(({ rpc }) => rpc) };
}

async function readBlock(
  reader: Reader,
  provider: RpcProvider,
  header: Header,
  rpcs: RpcProvider['rpc'][],
): Promise<Read | null> {
  const tokens = reader.chain.tokens.map((token) => token.address);
  const [rpc = provider.rpc, other = null] = rpcs;
  await reader.wallets.refresh();
  const { owners } = reader.wallets;
  const logs = await logsOfBlock(header, { tokens, owners, rpc, other, doubts: new Map() });
  return (
    logs && {
      ...(await findTransfers(header, logs, { owners, rpcs, contract: contractToRead(reader.chain) })),
      complete: true,
    }
  );
}

function save(reader: Reader, row: store.UnreadRow, { transfers, unread, complete }: Read): Promise<void> {
  const { db, chain, testMode, lease } = reader;
  return db.transaction(async (tx) => {
    await holdCursor(tx, chain.chainId, lease);
    if (!(await store.endUnread(tx, chain.chainId, row, complete))) return;
    await insertTransfers(tx, { chainId: chain.chainId, testMode }, transfers);
    for (const one of unread) await store.insertUnread(tx, chain.chainId, one);
  });
}
