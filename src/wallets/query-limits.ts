import { AttemptLimit, networkSubject } from '../lib/concurrency/attempts.ts';
import { minuteMs } from '../lib/durations.ts';

/** How many chain queries a node makes in 15 minutes to check signatures for one purpose of a merchant. */
const queriesOfOne = 30;
const queries = new AttemptLimit(queriesOfOne, 15 * minuteMs);
/** The limit for all networks together, where each network has a limit of its own. */
const queriesOfAll = new AttemptLimit(20 * queriesOfOne, 15 * minuteMs);

/**
 * Limits the chain queries that a merchant's link or session causes, from any number of messages and networks.
 *
 * @param purpose what is signed for, with the id of the merchant or of its link. Each purpose has its own limit
 * @returns a function that takes one query; it returns false if none is left
 */
export const limitQueriesFor =
  (purpose: string) =>
  (now: Date): boolean =>
    queries.take(purpose, now);

/**
 * As `limitQueriesFor`, with a limit for each network: for links that others may have too, so that nobody can use up
 * the merchant's queries.
 */
export const limitQueriesFrom =
  (ip: string, purpose: string) =>
  (now: Date): boolean =>
    queries.take(`${purpose} ${networkSubject(ip)}`, now) && queriesOfAll.take(purpose, now);
