import { AttemptLimit, clientSubject, networkSubject } from '../lib/attempts.ts';

type Most = { perClient: number; perClientAndRequest: number; perRequest: number };

/** What one network may post for a request: a quarter of what all may, since one owner easily has many addresses. */
const partOfNetwork = 4;

/**
 * Limits what is posted for requests. Whoever knows a pay link can use up what is theirs, and hardly what all have.
 *
 * @param most `perRequest`: at least eight clients' worth, so that a client uses up at most half of its network's part
 * @returns `ofClient` and `ofRequest` take one attempt each; false when there is none left
 */
export function postLimits(most: Most, windowMs: number) {
  const perClient = new AttemptLimit(most.perClient, windowMs);
  const perClientAndRequest = new AttemptLimit(most.perClientAndRequest, windowMs);
  const perNetworkAndRequest = new AttemptLimit(Math.ceil(most.perRequest / partOfNetwork), windowMs);
  const perRequest = new AttemptLimit(most.perRequest, windowMs);
  return {
    ofClient: (ip: string, now: Date): boolean => perClient.take(clientSubject(ip), now),
    ofRequest: (ip: string, id: string, now: Date): boolean =>
      perClientAndRequest.take(`${clientSubject(ip)} ${id}`, now) &&
      perNetworkAndRequest.take(`${networkSubject(ip)} ${id}`, now) &&
      perRequest.take(id, now),
  };
}
