import { clearAlarm, raiseAlarm } from '../db/alarms.ts';
import { type Found, findTransfers, logsOfBlock } from './find.ts';
import { type Provider, ProviderFault } from './pool.ts';
import type { Reader } from './read.ts';
import { type Header, RpcError } from './rpc.ts';
import { holdCursor, insertTransfers } from './store.ts';
import { readTransaction } from './transaction.ts';
import * as store from './unread-store.ts';

export { isSetAside } from './unread-store.ts';

/** In one pass; what is left comes in the next one. */
const passSize = 5;

/**
 * Tries again to read transactions that were set aside, beside the reading of new blocks. After two minutes the operator
 * is told, and transfers are stored without what their transaction carries: they are matched by amount, or unmatched.
 * One whose place in its transaction nobody tells is tried on.
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
    if (read) {
      await save(reader, row, read);
      reader.hooks.onFound?.();
    } else await store.putOffUnread(db, chain.chainId, row);
  }
  // Before the look: what is set aside meanwhile is looked for next time.
  reader.mayBeUnread = false;
  const { count, late } = await store.selectUnreadState(db, chain.chainId);
  if (count > 0) reader.mayBeUnread = true;
  const name = `chain-${chain.chainId}-unread`;
  if (late.length === 0) return clearAlarm(db.sql, name);
  await raiseAlarm(
    db.sql,
    name,
    `Transactions on ${chain.name} cannot be read, their payments may be missing: ${late.join(', ')}`,
  );
}

type Read = Found & { complete: boolean };

/** Null when it is to be tried later. */
async function tryAgain(reader: Reader, provider: Provider, row: store.UnreadRow): Promise<Read | null> {
  const other = reader.pool.other(provider);
  const rpcs = other ? [provider.rpc, other.rpc] : [provider.rpc];
  const owners = new Map(Object.entries(row.owners));
  try {
    const header = await provider.rpc.header(Number(row.block_number));
    // The reading comes upon the reorganisation, and takes this back then.
    if (header?.hash !== row.block_hash) return null;
    if (row.tx_hash === '') return await readBlock(reader, provider, header, rpcs);
    const read = (anyhow: boolean) => readTransaction(header, row.tx_hash, row.logs, owners, rpcs, anyhow);
    const transfers = await read(false);
    if (transfers) return { transfers, unread: [], complete: true };
    const poorer = row.is_late ? await read(true) : null;
    return poorer && { transfers: poorer, unread: [], complete: false };
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ProviderFault)) throw error;
    reader.log.warn({ chain: reader.chain.chainId, tx: row.tx_hash, reason: error.message }, 'still not to be read');
    return null;
  }
}

async function readBlock(
  reader: Reader,
  provider: Provider,
  header: Header,
  rpcs: Provider['rpc'][],
): Promise<Read | null> {
  const tokens = reader.chain.tokens.map((token) => token.address);
  const [rpc = provider.rpc, other = null] = rpcs;
  await reader.wallets.refresh();
  const { owners } = reader.wallets;
  const logs = await logsOfBlock(header, { tokens, owners, rpc, other, doubts: new Map() });
  return logs && { ...(await findTransfers(header, logs, owners, rpcs)), complete: true };
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
