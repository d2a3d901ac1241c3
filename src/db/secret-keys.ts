import { decrypt, keyedHash, type SecretKey } from '../lib/encrypt.ts';
import { StartFault } from '../lib/start-fault.ts';
import type { Sql, Tx } from './connection.ts';
import type { Fragment } from './sql.ts';

type Mark = { key_id: string; mark: Uint8Array | null; forgotten_at: Date | null };
type KeyUse = { key_id: string; secrets: number; mails: number; example: Uint8Array };

/** A mark that reveals nothing about the key and that no other key produces. */
const markOf = (secret: SecretKey) => keyedHash(secret, 'mark', 'quittance');

const where = 'SECRET_KEYS (in a sandbox the file secret-keys in DATA_DIR)';

/**
 * Compares the secret keys with the marks of earlier keys in the database, and with values that they encrypted.
 *
 * @returns a sentence with instructions for each key that is lost or has changed under a known id; empty if there is
 * none
 */
export async function findKeyFaults(sql: Sql, secrets: SecretKey[]): Promise<string[]> {
  const marks = new Map((await sql<Mark[]>`select * from secret_key_marks`).map((mark) => [mark.key_id, mark]));
  const uses = new Map((await readKeyUses(sql)).map((row) => [row.key_id, row]));
  const ids = [...new Set([...marks.keys(), ...uses.keys()])].sort();
  return ids.flatMap((id) => {
    const [secret, mark, use] = [secrets.find((one) => one.id === id), marks.get(id), uses.get(id)];
    if (!secret) return mark?.forgotten_at ? [] : [lost(id, use)];
    return isSame(secret, mark, use) ? [] : [differs(id)];
  });
}

/** The ids of keys that other nodes have started with since, and that these secrets lack. */
export async function missingKeys(sql: Sql, secrets: SecretKey[]): Promise<string[]> {
  const known = secrets.map(({ id }) => id);
  const rows = await sql<{ key_id: string }[]>`
    select key_id from secret_key_marks where forgotten_at is null and key_id <> all(${known}) order by key_id limit 10`;
  return rows.map(({ key_id: id }) => id);
}

/** Whether a key is the earlier one: compares its mark or, if there is none yet, decrypts an example. */
function isSame(secret: SecretKey, mark: Mark | undefined, use: KeyUse | undefined): boolean {
  if (mark?.mark) return markOf(secret).equals(mark.mark);
  if (!use) return true;
  try {
    decrypt([secret], use.example);
    return true;
  } catch {
    return false;
  }
}

function lost(id: string, use: KeyUse | undefined): string {
  const parts = [
    ...(use?.secrets ? [`webhook secrets (${use.secrets})`] : []),
    ...(use?.mails ? [`queued mails (${use.mails})`] : []),
    'API keys and sessions created with it',
  ];
  return `${where} lacks the key "${id}", with which this database was written: ${parts.join(', ')}. Put it back, behind the newest key. If it is lost for good, give up what depends on it: quittance secrets forget ${id}`;
}

function differs(id: string): string {
  return `${where} has a different key "${id}" than the one with which this database was written. Put the earlier key back; a new key needs its own id and goes in front.`;
}

/**
 * The id of the key that encrypted a value: it stands in front, behind its length. See `encrypt`. Of a large value only
 * its beginning is read.
 */
export const keyIdIn = (sql: Sql | Tx, bytes: Fragment): Fragment =>
  sql`encode(substring(${bytes} from 2 for get_byte(substring(${bytes} from 1 for 1), 0)), 'escape')`;

/** How many values are encrypted with each key, with one example. */
function readKeyUses(sql: Sql): Promise<KeyUse[]> {
  return sql<KeyUse[]>`
    select ${keyIdIn(sql, sql`bytes`)} as key_id,
      count(*) filter (where kind = 'secret')::int as secrets, count(*) filter (where kind = 'mail')::int as mails,
      (array_agg(bytes))[1] as example
    from (
      select 'secret' as kind, secret as bytes from webhook_endpoints
      union all select 'secret', pending_secret from webhook_endpoints where pending_secret is not null
      union all (select 'mail', sealed from mails where sealed is not null limit 100000)
    ) s group by 1`;
}

/**
 * At start: refuses keys that do not match the database, and stores the mark of each that does.
 *
 * @throws StartFault that names every such key, with instructions
 */
export async function checkSecretKeys(sql: Sql, secrets: SecretKey[]): Promise<void> {
  await refuseKeyFaults(sql, secrets);
  for (const secret of secrets) {
    await sql`
      insert into secret_key_marks as known (key_id, mark) values (${secret.id}, ${markOf(secret)})
      on conflict (key_id) do update set mark = coalesce(known.mark, excluded.mark), forgotten_at = null
      where known.mark is null or known.forgotten_at is not null`;
  }
  await refuseKeyFaults(sql, secrets); // another node may have stored the mark of a different key first
}

/**
 * Refuses keys that do not match the database, and notes nothing.
 *
 * @throws StartFault that names every such key, with instructions
 */
export async function refuseKeyFaults(sql: Sql, secrets: SecretKey[]): Promise<void> {
  const faults = await findKeyFaults(sql, secrets);
  if (faults.length > 0) throw new StartFault(faults.join('\n'));
}

/**
 * Gives up a lost key, so that a start no longer requires it.
 *
 * @returns false if the database has no mark of it and no value that it encrypted
 * @throws Error with a sentence while the key is among `secrets`
 */
export async function forgetSecretKey(sql: Sql, secrets: SecretKey[], id: string): Promise<boolean> {
  if (secrets.some((secret) => secret.id === id))
    throw new Error(`The key "${id}" is still in SECRET_KEYS: remove it there first.`);
  const [mark] = await sql`select from secret_key_marks where key_id = ${id}`;
  const isKnown = mark !== undefined || (await readKeyUses(sql)).some(({ key_id }) => key_id === id);
  if (!isKnown) return false;
  await sql`
    insert into secret_key_marks (key_id, forgotten_at) values (${id}, now())
    on conflict (key_id) do update set forgotten_at = coalesce(secret_key_marks.forgotten_at, now())`;
  return true;
}
