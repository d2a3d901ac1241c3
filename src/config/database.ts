import { namesThisMachine } from '../lib/networks.ts';

/** What the driver encrypts every connection with; under any other it goes on in the clear where the server wants to. */
const encrypting = ['require', 'verify-ca', 'verify-full'];

/** Whether a database is on this machine, where nobody listens on the way. A list of hosts is not. */
export function isOnThisMachine(url: URL | null, env: NodeJS.ProcessEnv): boolean {
  const host = url?.hostname || (url && (env.PGHOST || 'localhost'));
  return Boolean(host && (host.startsWith('/') || namesThisMachine(host)));
}

/**
 * Reads the address of a database; null when there is none. One on another machine must ask for TLS.
 *
 * @param name of the setting
 */
export function readDatabaseUrl(name: string, env: NodeJS.ProcessEnv, faults: string[]): string | null {
  const value = env[name];
  if (!value) return null;
  const hosts = /^postgres(?:ql)?:\/\/([^/?#]*)/.exec(value)?.[1];
  const url = hosts?.includes(',') ? null : URL.parse(value);
  // The driver takes these two as something else than a URL has them for.
  const isRead = !value.includes('#') && !/%2c[^@]*$/i.test(hosts ?? '');
  if (hosts === undefined || !isRead || (url === null && !hosts.includes(','))) {
    faults.push(`${name} must look like postgres://user:password@host:port/name`);
    return value;
  }
  // The driver takes the last of several.
  const mode = new URLSearchParams(value.split('?')[1]).getAll('sslmode').at(-1);
  if (env.DATABASE_TLS !== 'off' && !isOnThisMachine(url, env) && !encrypting.includes(mode ?? '')) {
    faults.push(
      `${name} leads to another machine without TLS: add ?sslmode=verify-full (or require, which trusts any certificate), or set DATABASE_TLS=off where nobody else is on the way`,
    );
  }
  return value;
}
