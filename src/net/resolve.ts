import { lookup, Resolver } from 'node:dns/promises';
import { Lanes } from '../lib/concurrency/lanes.ts';

/** Finds all addresses of a host name; rejects if there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/**
 * Queries the name servers directly. Unlike the system's lookup, this takes no thread of the pool, so a name server
 * that hangs does not delay other lookups. Each lookup has its own resolver: queries of one resolver share a socket, so
 * a malformed answer for one name would fail all of them. And a resolver reads only once which name servers the system
 * uses.
 *
 * @param servers name servers other than the system's, as `<address>:<port>`
 */
export function queryNameServers(servers?: string[]): Resolve {
  return async (hostname) => {
    const resolver = new Resolver({ timeout: 2000, tries: 2 });
    if (servers) resolver.setServers(servers);
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0)
      throw first?.status === 'rejected' ? first.reason : new Error(`no address: ${hostname}`);
    return addresses;
  };
}

/**
 * How many names the system looks up at once for all outgoing requests, and how long one waits for its turn. Each takes
 * a thread of the pool, for as long as its name server hangs, and only half of the threads look up names. What is left
 * of them is for the names of the database, of the chains' providers and of the mail server.
 */
const lookups = new Lanes(8, Number.POSITIVE_INFINITY, 8_000);
const underWay = new Map<string, Promise<string[]>>();

/** Asks the system, once for all callers that want the same name at the same time. */
function querySystem(hostname: string): Promise<string[]> {
  const asked = underWay.get(hostname);
  if (asked) return asked;
  const answer = lookups
    .run('', () => lookup(hostname, { all: true, order: 'verbatim' }))
    .then((answers) => answers.map(({ address }) => address))
    .finally(() => underWay.delete(hostname));
  underWay.set(hostname, answer);
  return answer;
}

/**
 * The resolver for outgoing requests.
 *
 * @param localNames whether to also use names that only this machine knows, which is useful where private networks may
 * be reached
 * @param ask the query of the name servers
 */
export function createResolve(localNames: boolean, ask: Resolve = queryNameServers()): Resolve {
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    if (!localNames) return ask(hostname);
    return ask(hostname).catch(() => querySystem(hostname));
  };
}
