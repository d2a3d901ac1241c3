import { lookup, Resolver } from 'node:dns/promises';

/** Finds all addresses of a host name; rejects if there are none. */
export type Resolve = (hostname: string) => Promise<string[]>;

/**
 * Queries the name servers directly. Unlike the system's lookup, this takes no thread of the pool, so a name server
 * that hangs does not delay other lookups.
 */
function askNameServers(): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (hostname) => {
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    const [first] = answers;
    if (addresses.length === 0)
      throw first?.status === 'rejected' ? first.reason : new Error(`no address: ${hostname}`);
    return addresses;
  };
}

const askSystem: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true, order: 'verbatim' });
  return answers.map((answer) => answer.address);
};

/**
 * The resolver for outgoing requests.
 *
 * @param localNames whether to also use names that only this machine knows, which is useful where private networks may
 * be reached
 */
export function createResolve(localNames: boolean): Resolve {
  const ask = askNameServers();
  return async (hostname) => {
    if (hostname === 'localhost' || hostname.endsWith('.localhost')) return ['127.0.0.1', '::1'];
    if (!localNames) return ask(hostname);
    return ask(hostname).catch(() => askSystem(hostname));
  };
}
