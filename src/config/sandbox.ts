import { namesThisMachine } from '../lib/networks.ts';

type Addresses = { host: string; baseUrl: string; payUrl: string };

/** Why other machines can reach a service, as a sentence; null if they cannot. */
export function reachOf({ host, baseUrl, payUrl }: Addresses): string | null {
  if (!namesThisMachine(host)) return `HOST (${host}) is not a loopback address`;
  for (const [name, address] of Object.entries({ BASE_URL: baseUrl, PAY_URL: payUrl })) {
    const url = URL.parse(address); // an invalid URL is reported elsewhere
    if (url && /^https?:$/.test(url.protocol) && !namesThisMachine(url.hostname))
      return `${name} (${url.origin}) names another machine`;
  }
  return null;
}

/**
 * Decides whether a service is a sandbox: yes if only this machine can reach it, otherwise only with `SANDBOX=on`, and
 * never with `NODE_ENV=production`.
 */
export function decideSandbox(env: NodeJS.ProcessEnv, addresses: Addresses, faults: string[]): boolean {
  const wish = env.SANDBOX || null;
  if (wish !== null && !['on', 'off'].includes(wish)) faults.push('SANDBOX must be on or off');
  if (env.DEV_ALLOW_CIDRS && wish !== 'on') {
    faults.push('DEV_ALLOW_CIDRS needs SANDBOX=on: without it, /dev answers to this machine only');
  }
  if (env.NODE_ENV !== 'production' && /^\s*prod/i.test(env.NODE_ENV ?? '')) {
    faults.push(`NODE_ENV=${env.NODE_ENV} is not known: production is written NODE_ENV=production`);
  }
  if (env.NODE_ENV === 'production') {
    if (wish === 'on') faults.push('SANDBOX=on and NODE_ENV=production contradict each other: remove one of them');
    return false;
  }
  if (wish !== null) return wish === 'on';
  const reach = reachOf(addresses);
  if (reach !== null && !(env.BASE_URL && env.SECRET_KEYS && env.CHAINS_FILE)) {
    faults.push(
      `This is not a sandbox, because ${reach}. Set what production requires, listed below, or SANDBOX=on for a sandbox that others can reach`,
    );
  }
  return reach === null;
}
