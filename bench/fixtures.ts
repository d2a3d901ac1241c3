import type { Sql } from '../src/db/connection.ts';
import { insertion } from '../src/db/sql.ts';
import { encrypt, keyedHash, newest, type SecretKey } from '../src/lib/encrypt.ts';
import { checksum62, randomBase62 } from '../src/lib/text/base62.ts';
import { newSecret } from '../src/webhooks/sign.ts';

/** How many rows of each kind the database holds. */
export const shape = { partners: 500, keys: 4000, merchants: 2500, receivers: 50 };

/**
 * Ids are built from a number, so that a pgbench script can name them: a letter for the kind first, the number at the
 * end.
 */
export const idOf = (kind: 'a' | 'b' | 'c' | 'd', number: number) =>
  `${prefixOf(kind)}${String(number).padStart(12, '0')}`;
export const prefixOf = (kind: 'a' | 'b' | 'c' | 'd') => `${kind.repeat(8)}-0000-4000-8000-`;
const partnerOf = (number: number) => idOf('a', number % shape.partners);

/** Merchant `n` and key `n` belong to partner `n mod 500`. Calls with key `n` are for merchants of its partner. */
export type Fixtures = { keys: string[] };

/** Fills an empty database: partners with keys for each arm, and merchants that are ready to be paid. */
export async function makeFixtures(sql: Sql, secrets: SecretKey[]): Promise<Fixtures> {
  const { partners, merchants } = shape;
  await sql`insert into rate_overrides (code, rate) values ('EUR', '0.92')`;
  await sql`
    insert into partners (id, slug, name, currency, allowed_expiry_minutes, default_expiry_minutes)
    select (${prefixOf('a')} || lpad(n::text, 12, '0'))::uuid, 'bench-' || n, 'Partner ' || n, 'EUR', '{5,15,60}', 15
    from generate_series(0, ${partners}::int - 1) n`;
  await sql`
    insert into merchants (partner_id, test_mode, id, business_name, app_mode, display_currency, wallet_address,
      wallet_signed_at, onboarded_at, terms_version, terms_accepted_at, created_at)
    select (${prefixOf('a')} || lpad((n % ${partners}::int)::text, 12, '0'))::uuid, true,
      (${prefixOf('b')} || lpad(n::text, 12, '0'))::uuid, 'Merchant ' || n, 'business', 'EUR',
      '0x' || lpad(to_hex(n), 40, '0'), now(), now(), '1', now(), now() + n * interval '1 ms'
    from generate_series(0, ${merchants}::int - 1) n`;
  await sql`insert into wallets select wallet_address, partner_id, test_mode, id, now(), now() from merchants`;
  return { keys: await makeKeys(sql, secrets) };
}

/** Real keys for the calls over HTTP, and as many rows for pgbench, whose hashes are numbers. */
async function makeKeys(sql: Sql, secrets: SecretKey[]): Promise<string[]> {
  const keys = Array.from({ length: shape.keys }, () => {
    const body = `qt_test_${randomBase62(32)}`;
    return body + checksum62(body);
  });
  const rows = keys.flatMap((key, n) => [
    keyRow(idOf('c', n), partnerOf(n), keyedHash(newest(secrets), 'api-key', key)),
    keyRow(idOf('d', n), partnerOf(n), Buffer.from(String(n).padStart(64, '0'), 'hex')),
  ]);
  for (let from = 0; from < rows.length; from += 1000) {
    await sql`insert into api_keys ${insertion(rows.slice(from, from + 1000))}`;
  }
  return keys;
}

function keyRow(id: string, partnerId: string, hash: Buffer) {
  const scopes = ['requests:write', 'requests:read'];
  return { id, partner_id: partnerId, test_mode: true, hash, hint: 'bench', scopes };
}

/** Endpoints at one receiver, each of its own partner and with its own path and secret. */
export async function makeEndpoints(
  sql: Sql,
  secrets: SecretKey[],
  origin: string,
  count = shape.receivers,
): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    partner_id: partnerOf(n),
    test_mode: true,
    url: `${origin}/hook/${n}`,
    secret: encrypt(secrets, newSecret()),
    last_success_at: new Date(),
  }));
  await sql`insert into webhook_endpoints ${insertion(rows)}`;
}
