import { raiseAlarm } from '../../db/alarms.ts';
import type { Log } from '../rpc.ts';
import { paidBy } from './blocks.ts';
import { placeOf, type Range } from './compared.ts';
import type { Reader } from './read.ts';
import {
  insertOmitted,
  maxOfTeller,
  selectAwaited,
  selectPlaces,
  selectSetAside,
  selectTellers,
} from './unread-store.ts';

/**
 * A log, the host of the endpoint that reports it, and of one that reports other logs of its block; null if they report
 * the same now.
 */
export type ToldLog = { log: Log; by: string; unlike: string | null };

/** The hosts of endpoints with so many waiting transactions that no more are accepted. */
export async function fullTellers({ db, chain }: Reader): Promise<Set<string>> {
  const tellers = await selectTellers(db, chain.chainId);
  return new Set(tellers.flatMap(({ host, count }) => (count >= maxOfTeller ? [host] : [])));
}

/**
 * Sets aside the transactions of logs that were not read. The operator is told if endpoints still disagree.
 *
 * @returns false if an endpoint reported more than is accepted from one: the rest is set aside once there is room
 */
export async function setAside(reader: Reader, { from }: Range, told: readonly ToldLog[]): Promise<boolean> {
  const { db, testMode, comparison } = reader;
  const { chainId, name } = reader.chain;
  const left = await unknownOf(reader, told);
  if (left.length === 0) return true;
  const tellers = new Map((await selectTellers(db, chainId)).map(({ host, count }) => [host, count]));
  let added = 0;
  let isWhole = true;
  for (const [host, own] of Map.groupBy(left, ({ by }) => by)) {
    const room = Math.max(0, maxOfTeller - (tellers.get(host) ?? 0));
    const logs = own.slice(0, room).map(({ log }) => log);
    for (const [wallet, paying] of Map.groupBy(logs, (log) => paidBy(log) ?? ''))
      added += await insertOmitted(db, { chainId, testMode }, wallet, from - 1, paying, { isKnown: true, host });
    if (own.length <= room) continue;
    isWhole = false;
    comparison.full = new Set([...comparison.full, host]);
  }
  if (added === 0) return isWhole;
  reader.mayBeUnread = true;
  const disputed = left.flatMap(({ log, by, unlike }) => (unlike === null ? [] : [{ log, by, unlike }]));
  const [first] = disputed;
  if (!first) return isWhole;
  comparison.foundAtMs = performance.now();
  const transactions = [...new Set(disputed.map(({ log }) => log.txHash))].slice(0, 5);
  const details = { chainId, chain: name, host: first.unlike, other: first.by, transactions };
  reader.log.error(details, 'an endpoint does not report transfers that another one reports');
  await raiseAlarm(db.sql, { kind: 'chain-left-out', subject: String(chainId), details });
  return isWhole;
}

/** Those that are neither stored nor set aside, and pay a wallet that somebody could pay by then. */
async function unknownOf({ db, chain, testMode }: Reader, told: readonly ToldLog[]): Promise<ToldLog[]> {
  const hashes = [...new Set(told.map(({ log }) => log.txHash))];
  const places = new Set((await selectPlaces(db, chain.chainId, hashes)).map(placeOf));
  const unread = new Set((await selectSetAside(db, chain.chainId, hashes)).map(inBlock));
  const left = told.filter(
    ({ log }) =>
      !places.has(placeOf(log)) && !places.has(placeOf({ ...log, logIndex: null })) && !unread.has(inBlock(log)),
  );
  if (left.length === 0) return [];
  const paid = new Map(left.map(({ log }) => [toWallet(log), { wallet: paidBy(log) ?? '', ...log }]));
  const awaited = await selectAwaited(db, { chainId: chain.chainId, testMode }, [...paid.values()]);
  const wanted = new Set(awaited.map(({ wallet, blockHash }) => `${wallet} ${blockHash}`));
  return left.filter(({ log }) => wanted.has(toWallet(log)));
}

const toWallet = (log: Log) => `${paidBy(log)} ${log.blockHash}`;

const inBlock = ({ txHash, blockHash }: { txHash: string; blockHash: string }) => `${txHash} ${blockHash}`;
