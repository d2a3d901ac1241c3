import { AttemptLimit, clientSubject, networkSubject } from '../lib/concurrency/attempts.ts';

type PostLimits = { perClient: number; perClientAndRequest: number; perRequest: number };

/**
 * One network may post this share of what everybody together may for a request, because one owner easily has many
 * addresses.
 */
const networkShare = 1 / 4;
/**
 * How much one network may post for all requests, as a multiple of one client's limit: whoever can create requests can
 * create any number.
 */
const clientsOfNetwork = 10;

/**
 * Limits what is posted for requests. Whoever knows a pay link can use up their own attempts, but hardly those of
 * everybody.
 *
 * @param max `perRequest`: at least eight times `perClientAndRequest`, so that a client uses up at most half of its
 *   network's share
 * @returns `ofClient` and `ofRequest` take one attempt each; false if there is none left
 */
export function postLimits(max: PostLimits, windowMs: number) {
  const perClient = new AttemptLimit(max.perClient, windowMs);
  const perNetwork = new AttemptLimit(clientsOfNetwork * max.perClient, windowMs);
  const perClientAndRequest = new AttemptLimit(max.perClientAndRequest, windowMs);
  const perNetworkAndRequest = new AttemptLimit(Math.ceil(max.perRequest * networkShare), windowMs);
  const perRequest = new AttemptLimit(max.perRequest, windowMs);
  return {
    ofClient: (ip: string, now: Date): boolean =>
      perClient.take(clientSubject(ip), now) && perNetwork.take(networkSubject(ip), now),
    ofRequest: (ip: string, id: string, now: Date): boolean =>
      perClientAndRequest.take(`${clientSubject(ip)} ${id}`, now) &&
      perNetworkAndRequest.take(`${networkSubject(ip)} ${id}`, now) &&
      perRequest.take(id, now),
  };
}
