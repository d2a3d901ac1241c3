import { minuteMs } from '../lib/durations.ts';
import { decrypt, keyedHash, newest, type SecretKey } from '../lib/encrypt.ts';
import { StartFault } from '../lib/start-fault.ts';
import type { Sql, Tx } from './connection.ts';
import type { Fragment } from './sql.ts';

/** `in_front_at`: when a running node last had the key in front; absent in a database that is not migrated yet. */
type Mark = {
  key_id: string;
  mark: Uint8Array | null;
  forgotten_at: Date | null;
  in_front_at?: Date | null;
  read_at: Date;
};
type KeyUse = { key_id: string; secrets: number; mails: number; example: Uint8Array };

/** A mark that reveals nothing about the key and that no other key produces. */
const markOf = (secret: SecretKey) => keyedHash(secret, 'mark', 'quittance');

/**
 * A node that recorded its first key within this time still runs with it. Nodes record it again in less than half of
 * this.
 */
const inFrontMs = 2.5 * minuteMs;

const where = 'SECRET_KEYS (in a sandbox the file secret-keys in DATA_DIR)';

/**
 * Compares the secret keys with the marks of earlier keys in the database, and with values that they encrypted.
 *
 * @returns a sentence with instructions for each key that is lost or has changed under a known id; empty if there is
 * none
 */
export async function findKeyFaults(sql: Sql, secrets: SecretKey[]): Promise<string[]> {
  const marks = new Map((await selectMarks(sql)).map((mark) => [mark.key_id, mark]));
  const uses = new Map((await readKeyUses(sql)).map((row) => [row.key_id, row]));
  const ids = [...new Set([...marks.keys(), ...uses.keys()])].sort();
  return ids.flatMap((id) => {
    const [secret, mark, use] = [secrets.find((one) => one.id === id), marks.get(id), uses.get(id)];
    if (!secret) return mark?.forgotten_at ? [] : [lost(id, use, mark)];
    return isSame(secret, mark, use) ? [] : [differs(id)];
  });
}

const selectMarks = (sql: Sql): Promise<Mark[]> => sql<Mark[]>`select *, now() as read_at from secret_key_marks`;

/**
 * How long ago a running node recorded this key as its first, with which it encrypts and hashes; null if none runs with
 * it.
 */
function inFrontAgoMs(mark: Mark | undefined): number | null {
  if (!mark?.in_front_at) return null;
  const agoMs = mark.read_at.getTime() - mark.in_front_at.getTime();
  return agoMs < inFrontMs ? agoMs : null;
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

function lost(id: string, use: KeyUse | undefined, mark: Mark | undefined): string {
  const parts = [
    ...(use?.secrets ? [`webhook secrets (${use.secrets})`] : []),
    ...(use?.mails ? [`queued mails (${use.mails})`] : []),
    'API keys and sessions created with it',
  ];
  return `${where} lacks the key "${id}", with which this database was written: ${parts.join(', ')}. ${inFrontAgoMs(mark) === null ? 'Put it back' : 'A running node has it in front: add it here'}, behind the newest key. If it is lost for good, give up what depends on it: quittance secrets forget ${id}`;
}

function differs(id: string): string {
  return `${where} has a different key "${id}" than the one with which this database was written. Put the earlier key back; a new key needs its own id and goes in front.`;
}

/**
 * The id of the key that encrypted a value. The value begins with the id's length, and then the id: see `encrypt`. Only
 * the beginning of a large value is read.
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
 * Records that a running node has this key first in SECRET_KEYS, so that nobody gives up a key with which values are
 * still made. If somebody has done so, the key is required again.
 *
 * @returns whether somebody did
 */
export async function noteKeyInFront(sql: Sql, secrets: SecretKey[]): Promise<boolean> {
  const [row] = await sql<{ was_forgotten: boolean }[]>`
    with earlier as (select * from secret_key_marks where key_id = ${newest(secrets).id} for update)
    update secret_key_marks m set in_front_at = now(), forgotten_at = null
    from earlier where m.key_id = earlier.key_id
    returning earlier.forgotten_at is not null as was_forgotten`;
  return row?.was_forgotten ?? false;
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
 * @throws Error with a sentence while the key is among `secrets`, or a running node has it in front
 */
export async function forgetSecretKey(sql: Sql, secrets: SecretKey[], id: string): Promise<boolean> {
  if (secrets.some((secret) => secret.id === id))
    throw new Error(`The key "${id}" is still in SECRET_KEYS: remove it there first.`);
  const mark = (await selectMarks(sql)).find(({ key_id }) => key_id === id);
  const agoMs = inFrontAgoMs(mark);
  if (agoMs !== null) throw new Error(stillInFront(id, agoMs));
  const isKnown = mark !== undefined || (await readKeyUses(sql)).some(({ key_id }) => key_id === id);
  if (!isKnown) return false;
  await sql`
    insert into secret_key_marks (key_id, forgotten_at) values (${id}, now())
    on conflict (key_id) do update set forgotten_at = coalesce(secret_key_marks.forgotten_at, now())`;
  return true;
}

function stillInFront(id: string, agoMs: number): string {
  const [agoS, waitS] = [Math.max(0, Math.floor(agoMs / 1000)), Math.ceil((inFrontMs - agoMs) / 1000)];
  return `A node had the key "${id}" in front of its SECRET_KEYS ${agoS} s ago. What it makes with it would be lost, so nothing was given up. If that node still runs, the key is not lost: take it from there. Otherwise run this again in ${waitS} s. To retire the key, first give every node a list with another key in front.`;
}
