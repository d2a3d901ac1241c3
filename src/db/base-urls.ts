import { namesThisMachine } from '../lib/networks.ts';
import { StartFault } from '../lib/start-fault.ts';
import type { Sql } from './connection.ts';

/** An address under which nodes on this database may run; `origin` as `new URL(…).origin` writes it. */
export type BaseUrl = { origin: string; added_at: Date };

export const listBaseUrls = (sql: Sql): Promise<BaseUrl[]> =>
  sql<BaseUrl[]>`select origin, added_at from base_urls order by added_at, origin`;

/** Notes the first address of a database that knows none. */
async function noteFirst(sql: Sql, origin: string): Promise<void> {
  await sql`
    insert into base_urls (origin) select ${origin} where not exists (select from base_urls) on conflict do nothing`;
}

/** Allows nodes to run under this address, as well as under the one that they have now. */
export async function addBaseUrl(sql: Sql, { baseUrl }: { baseUrl: string }, origin: string): Promise<void> {
  await noteFirst(sql, new URL(baseUrl).origin);
  await sql`insert into base_urls (origin) values (${origin}) on conflict do nothing`;
}

/**
 * From now on, no node may start under this address.
 *
 * @returns false if it is not among them, or the only one, without which nodes could start under any address
 */
export async function removeBaseUrl(sql: Sql, origin: string): Promise<boolean> {
  const { count } = await sql`
    delete from base_urls where origin = ${origin} and exists (select from base_urls o where o.origin <> ${origin})`;
  return count > 0;
}

/**
 * Why a node with this BASE_URL must not run on this database; null if it may. A database that knows no address belongs
 * to no service in production, so any address may be used.
 */
export async function baseUrlFault(sql: Sql, baseUrl: string): Promise<string | null> {
  const { origin } = new URL(baseUrl);
  const known = (await listBaseUrls(sql)).map((row) => row.origin);
  if (known.length === 0 || known.includes(origin)) return null;
  return `BASE_URL is ${origin}, but this database belongs to the service at ${known.join(' and ')}. If it is a copy, start no node on it: that would send the same events, mails and charges as the original. If the service moves to ${origin}, run quittance base-url add ${origin} first.`;
}

/**
 * At start: notes the first address at which a service runs on this database, and refuses any other that was not added.
 * Addresses of this machine are not noted: sandboxes and tests change their ports.
 *
 * @throws StartFault
 */
export async function claimBaseUrl(
  sql: Sql,
  { baseUrl, sandbox }: { baseUrl: string; sandbox: boolean },
): Promise<void> {
  const { origin, hostname } = new URL(baseUrl);
  if (!sandbox && !namesThisMachine(hostname)) await noteFirst(sql, origin);
  const fault = await baseUrlFault(sql, baseUrl);
  if (fault) throw new StartFault(fault);
}
