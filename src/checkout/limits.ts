import { AttemptLimit, clientSubject, networkSubject } from '../lib/attempts.ts';

type Most = { perClient: number; perClientAndRequest: number; perRequest: number };

/** A network has so large a part of what is posted for one request: one owner obtains all its addresses easily. */
const partOfNetwork = 4;

/**
 * Limits what is posted for requests. Whoever knows a pay link can use up what is theirs, and hardly what all have.
 *
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
