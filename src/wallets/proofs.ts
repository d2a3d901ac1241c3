import { AttemptLimit, networkSubject } from '../lib/attempts.ts';
import { minuteMs } from '../lib/durations.ts';

/** So often may chains be queried, on a node, about wallets that sign for one purpose of a merchant. */
const queriesOfOne = 30;
const queries = new AttemptLimit(queriesOfOne, 15 * minuteMs);
/** The same of all networks together, where it is counted for each. */
const queriesOfAll = new AttemptLimit(20 * queriesOfOne, 15 * minuteMs);

/**
 * Limits chain queries of who has a merchant's link or session, however many messages are made and from wherever.
 *
 * @param purpose what is signed for, with the id of the merchant or of its link; no purpose uses up another's
 * @returns takes one query; false when there is none left
 */
export const queriesFor =
  (purpose: string) =>
  (now: Date): boolean =>
    queries.take(purpose, now);

/** The same for each network: where others have the link, too, and must keep nobody from signing in time. */
export const queriesFrom =
  (ip: string, purpose: string) =>
  (now: Date): boolean =>
    queries.take(`${purpose} ${networkSubject(ip)}`, now) && queriesOfAll.take(purpose, now);
