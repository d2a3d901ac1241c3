import { AttemptLimit, clientSubject, networkSubject } from '../../lib/concurrency/attempts.ts';
import { Slots, takeEach } from '../../lib/concurrency/slots.ts';
import { minuteMs } from '../../lib/durations.ts';

/** How many pay pages a process keeps connected. */
const maxPages = 10_000;
/** Per client. Each stream queries the database every few seconds, but many customers can share an address. */
const maxPagesOfOne = 60;
/** Per network of addresses, because one owner can have a whole network. */
const maxPagesOfNetwork = 300;
/** For all clients together, because whoever knows a request's id can have any number of addresses. */
const maxPagesOfRequest = 50;
/** New streams per client and minute. */
const connectionsOfClient = 120;
/** Per minute. A page that cannot listen polls every 2 to 15 s, and all tablets of a shop come from one address. */
const pollsOfClient = 1_200;
const pollsOfClientForRequest = 120;

/** Makes the limits for open pay pages of this process. */
export function liveLimits() {
  const polls = new AttemptLimit(pollsOfClient, minuteMs);
  const pollsForRequest = new AttemptLimit(pollsOfClientForRequest, minuteMs);
  const connections = new AttemptLimit(connectionsOfClient, minuteMs);
  const ofClients = new Slots(maxPages, maxPagesOfOne);
  const ofNetworks = new Slots(Number.POSITIVE_INFINITY, maxPagesOfNetwork);
  const ofRequests = new Slots(Number.POSITIVE_INFINITY, maxPagesOfRequest);
  return {
    /** Counts a poll; false if the client has made too many. */
    mayPoll(ip: string, requestId: string, now: Date): boolean {
      const client = clientSubject(ip);
      return polls.take(client, now) && pollsForRequest.take(`${client} ${requestId}`, now);
    },
    /** Counts a new stream; false if the client has opened too many. */
    mayConnect: (ip: string, now: Date): boolean => connections.take(clientSubject(ip), now),
    /** Takes a slot for a stream. Returns the function that gives it back; null if there is none. */
    takeSlot: (ip: string, requestId: string): (() => void) | null =>
      takeEach([ofRequests, requestId], [ofNetworks, networkSubject(ip)], [ofClients, clientSubject(ip)]),
  };
}
