import type { ListenOptions } from './listen.ts';
import type { Waits } from './pool.ts';
import type { Settings } from './session-settings.ts';

/** Where a pool connects, how long it waits, and what its sessions are set to. */
export type Address = {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  url: string;
  waits: Waits;
  /** The settings of each session, named as for `set`. */
  settings?: Settings;
};

/** The options for connecting to a URL. Its parameters other than user, password and TLS become session settings. */
export function connectionOptions({ url, waits, settings }: Address): ListenOptions {
  const { username, password, hostname, port, pathname, searchParams } = new URL(url);
  const { sslmode = '', user, password: secret, ...asked } = Object.fromEntries(searchParams);
  const all = { ...asked, ...settings };
  const ssl = sslmode === 'require' ? { rejectUnauthorized: false } : sslmode.startsWith('verify');
  return {
    ...(hostname && { host: decodeURIComponent(hostname).replace(/^\[|\]$/g, '') }),
    ...(port && { port: Number(port) }),
    ...(username || user ? { user: username ? decodeURIComponent(username) : user } : {}),
    ...(password || secret ? { password: password ? decodeURIComponent(password) : secret } : {}),
    ...(pathname.length > 1 && { database: decodeURIComponent(pathname.slice(1)) }),
    ssl,
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${String(value).replaceAll(/([\\ ])/g, '\\$1')}`)
      .join(' '),
    keepAlive: true,
    // A transaction sends its first statements without waiting for answers. A single statement does not share its
    // connection.
    pipeline: true,
    connectionTimeoutMillis: waits.connect * 1000,
  };
}
