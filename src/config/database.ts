import { namesThisMachine } from '../lib/networks.ts';

/** The values of `sslmode` with which every connection is encrypted. With any other, none is. */
const encrypting = ['require', 'verify-ca', 'verify-full'];

/** A percent sign that is not followed by two hex digits. */
export const isMalformed = /%(?![0-9a-f]{2})/i;
const isOneHost = (host: string) => !/,|%2c/i.test(host);
/** Whether the host was read from the password, because of an @ in it: the real host then follows a later # or /. */
const endsInPassword = ({ pathname, hash }: URL) => hash !== '' || pathname.includes('@');

/** Whether a database is on this machine, so that the connection needs no TLS. */
export function isOnThisMachine(url: URL, env: NodeJS.ProcessEnv): boolean {
  const host = decodeURIComponent(url.hostname) || env.PGHOST || 'localhost';
  return host.startsWith('/') || namesThisMachine(host);
}

/** Whether each connection has its own session, or a pooler gives each transaction another one. */
export type PoolMode = 'session' | 'transaction';

/** Reads how a pooler at `DATABASE_URL` works. Connections that need their own session use `DATABASE_OWNER_URL`. */
export function readPoolMode(env: NodeJS.ProcessEnv, faults: string[]): PoolMode {
  const value = env.DATABASE_POOL_MODE || 'session';
  if (value !== 'session' && value !== 'transaction')
    faults.push('DATABASE_POOL_MODE must be session or transaction, as the pooler of DATABASE_URL is set');
  if (value === 'transaction' && !(env.DATABASE_URL && env.DATABASE_OWNER_URL))
    faults.push(
      'DATABASE_POOL_MODE=transaction needs DATABASE_URL, which leads to the pooler, and DATABASE_OWNER_URL, which leads to the database server itself: migrations and notifications need a session',
    );
  return value === 'transaction' ? value : 'session';
}

/**
 * Reads the URL of a database; null if there is none. For a database on another machine, TLS is required.
 *
 * @param name the setting's name
 */
export function readDatabaseUrl(name: string, env: NodeJS.ProcessEnv, faults: string[]): string | null {
  const value = env[name];
  if (!value) return null;
  const url = URL.parse(value);
  if (
    !url ||
    !/^postgres(ql)?:\/\//.test(value) ||
    !isOneHost(url.hostname) ||
    endsInPassword(url) ||
    isMalformed.test(value)
  ) {
    faults.push(
      `${name} must look like postgres://user:password@host:port/name, with one host; characters such as #, /, @ and % in the password are percent-encoded`,
    );
    return value;
  }
  const mode = url.searchParams.getAll('sslmode').at(-1);
  if (env.DATABASE_TLS !== 'off' && !isOnThisMachine(url, env) && !encrypting.includes(mode ?? '')) {
    faults.push(
      `${name} points to another machine without TLS: add ?sslmode=verify-full (or require, which trusts any certificate), or set DATABASE_TLS=off if the network is trusted`,
    );
  }
  return value;
}
