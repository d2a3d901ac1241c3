import { raiseAlarm } from '../../db/alarms.ts';
import type { Log } from '../rpc.ts';
import { paidBy, transferOf } from './blocks.ts';
import type { Range } from './comparison.ts';
import type { Reader } from './read.ts';
import {
  countUnreadByHost,
  maxPerHost,
  type Placed,
  requestReread,
  selectAwaited,
  selectPlaced,
  selectSetAside,
} from './unread-store.ts';

/**
 * A log, the host of the endpoint that reports it, and of one that reports other logs of its block; null if they report
 * the same now.
 */
export type ReportedLog = { log: Log; by: string; differsFrom: string | null };

/** The hosts of endpoints with so many waiting transactions that no more are accepted. */
export async function hostsAtLimit({ db, chain }: Reader): Promise<Set<string>> {
  const counts = await countUnreadByHost(db, chain.chainId);
  return new Set(counts.flatMap(({ host, count }) => (count >= maxPerHost ? [host] : [])));
}

/**
 * Sets aside the transactions of logs that were not read. The operator is told if endpoints still disagree.
 *
 * @returns false if an endpoint reported more than is accepted from one: the rest is set aside once there is room
 */
export async function setAside(reader: Reader, { from }: Range, reported: readonly ReportedLog[]): Promise<boolean> {
  const { db, testMode, comparison } = reader;
  const { chainId, name } = reader.chain;
  const unknown = await withoutKnown(reader, reported);
  if (unknown.length === 0) return true;
  const counts = new Map((await countUnreadByHost(db, chainId)).map(({ host, count }) => [host, count]));
  let added = 0;
  let isComplete = true;
  for (const [host, own] of Map.groupBy(unknown, ({ by }) => by)) {
    const room = Math.max(0, maxPerHost - (counts.get(host) ?? 0));
    const logs = own.slice(0, room).map(({ log }) => log);
    for (const [wallet, transactions] of Map.groupBy(logs, (log) => paidBy(log) ?? '')) {
      const reread = { wallet, transactions, sinceBlock: from - 1, isKnown: true, host };
      added += await requestReread(db, { chainId, testMode }, reread);
    }
    if (own.length <= room) continue;
    isComplete = false;
    comparison.full = new Set([...comparison.full, host]);
  }
  if (added === 0) return isComplete;
  reader.mayBeUnread = true;
  const disputed = unknown.flatMap(({ log, by, differsFrom }) =>
    differsFrom === null ? [] : [{ log, by, differsFrom }],
  );
  const [first] = disputed;
  if (!first) return isComplete;
  comparison.foundAtMs = performance.now();
  const transactions = [...new Set(disputed.map(({ log }) => log.txHash))].slice(0, 5);
  const details = { chainId, chain: name, host: first.differsFrom, other: first.by, transactions };
  reader.log.error(details, 'an endpoint does not report transfers that another one reports');
  await raiseAlarm(db.sql, { kind: 'chain-left-out', subject: String(chainId), details });
  return isComplete;
}

/** The logs that are neither stored unchanged nor set aside, and that pay a wallet which had a request by then. */
async function withoutKnown({ db, chain, testMode }: Reader, reported: readonly ReportedLog[]): Promise<ReportedLog[]> {
  const hashes = [...new Set(reported.map(({ log }) => log.txHash))];
  const stored = new Set((await selectPlaced(db, chain.chainId, hashes)).map(placedKey));
  const unread = new Set((await selectSetAside(db, chain.chainId, hashes)).map(transactionKey));
  const isStored = (log: Log) =>
    [log.logIndex, null].some((logIndex) => stored.has(placedKey({ ...placedOf(log), logIndex })));
  const unstored = reported.filter(({ log }) => !isStored(log) && !unread.has(transactionKey(log)));
  if (unstored.length === 0) return [];
  const paid = new Map(unstored.map(({ log }) => [walletInBlock(log), { wallet: paidBy(log) ?? '', ...log }]));
  const awaited = await selectAwaited(db, { chainId: chain.chainId, testMode }, [...paid.values()]);
  const wanted = new Set(awaited.map(({ wallet, blockHash }) => `${wallet} ${blockHash}`));
  return unstored.filter(({ log }) => wanted.has(walletInBlock(log)));
}

const placedOf = (log: Log) => ({ from: '', to: '', value: 0n, ...transferOf(log), ...log, token: log.address });

const placedKey = ({ txHash, logIndex, token, from, to, value }: Placed) =>
  [txHash, logIndex, token, from, to, value].join(' ');

const walletInBlock = (log: Log) => `${paidBy(log)} ${log.blockHash}`;

const transactionKey = ({ txHash, blockHash }: { txHash: string; blockHash: string }) => `${txHash} ${blockHash}`;
