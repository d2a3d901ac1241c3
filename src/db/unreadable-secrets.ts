import { decryptOrNull, type SecretKey } from '../lib/encrypt.ts';
import { type Mode, modeOf } from '../lib/mode.ts';
import type { Sql } from './connection.ts';
import { keyIdIn } from './secret-keys.ts';

/** The webhook secrets of one partner's mode, or some queued mails, that no key decrypts. */
export type Unreadable =
  | { what: 'webhook'; slug: string; mode: Mode; keyId: string }
  | { what: 'mails'; many: number; keyId: string };

/**
 * The limits of a check. Decrypting takes microseconds, so all partners are read, and enough mails to notice a problem.
 */
const maxEndpoints = 20_000;
const maxMails = 1_000;

type Endpoint = { slug: string; test_mode: boolean; key_id: string; secret: Uint8Array };
type Mail = { key_id: string; sealed: Uint8Array };

/**
 * Tries to decrypt stored webhook secrets and the newest queued mails. A key of the right id need not be the one that
 * encrypted them: the marks of `secret-keys.ts` say which keys the service started with, not what wrote a row.
 *
 * @returns what no key decrypts, except with a lost key, which `findKeyFaults` reports
 */
export async function findUnreadable(sql: Sql, secrets: SecretKey[]): Promise<Unreadable[]> {
  const forgotten = await sql<{ key_id: string }[]>`
    select key_id from secret_key_marks where forgotten_at is not null`;
  const ids = [...new Set([...secrets.map(({ id }) => id), ...forgotten.map(({ key_id }) => key_id)])];
  const endpoints = await sql<Endpoint[]>`
    select p.slug, s.test_mode, s.key_id, s.secret from (
      select partner_id, test_mode, secret, ${keyIdIn(sql, sql`secret`)} as key_id
      from (
        select partner_id, test_mode, secret from webhook_endpoints
        union all
        select partner_id, test_mode, pending_secret from webhook_endpoints where pending_secret is not null
      ) stored
    ) s join partners p on p.id = s.partner_id
    where s.key_id = any(${ids}) order by p.slug, s.test_mode limit ${maxEndpoints}`;
  const mails = await sql<Mail[]>`
    select key_id, sealed from (
      select sealed, ${keyIdIn(sql, sql`sealed`)} as key_id from mails
      where sealed is not null and sent_at is null order by created_at desc limit ${maxMails}
    ) s where key_id = any(${ids})`;
  const webhooks = endpoints
    .filter(({ secret }) => !isReadable(secrets, secret))
    .map(({ slug, test_mode, key_id }) => ({ what: 'webhook' as const, slug, mode: modeOf(test_mode), keyId: key_id }));
  const unread = Map.groupBy(
    mails.filter(({ sealed }) => !isReadable(secrets, sealed)),
    ({ key_id }) => key_id,
  );
  return [...webhooks, ...[...unread].map(([keyId, all]) => ({ what: 'mails' as const, many: all.length, keyId }))];
}

const isReadable = (secrets: SecretKey[], encrypted: Uint8Array): boolean => decryptOrNull(secrets, encrypted) !== null;
