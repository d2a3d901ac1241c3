import { isUntrusted, sqlState } from './connection.ts';
import { readOnly } from './connection-errors.ts';
import { diskFull } from './query.ts';

/** SQLSTATEs of a server that refuses the login, or that does not have the database. */
const refusedLogins = ['28000', '28P01'];
const unknownDatabase = '3D000';

/** Whether the server refuses the login, or does not have the database. */
export const isRefused = (error: unknown): boolean =>
  [...refusedLogins, unknownDatabase].includes(sqlState(error) ?? '');

/** What to do about a database that answers and cannot be used, by SQLSTATE. */
const adviceOn: Record<string, string> = {
  [unknownDatabase]: 'Check its name in the address, or create it: see “Database logins” in docs/operating.md.',
  [readOnly]: 'It is a standby, or read-only: name the primary in DATABASE_URL, or let it accept changes.',
  [diskFull]: 'Make room on the disk of the database server.',
};

/**
 * Says that a database cannot be used, why, and what to do.
 *
 * @param name the setting with its address
 */
export function unusableDatabase(name: string, error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  const why = `The database of ${name} cannot be used: ${message || code}.`;
  const state = sqlState(error) ?? '';
  if (refusedLogins.includes(state))
    return `${why} Check the user and the password in the address, where characters such as @, / and % are percent-encoded, and pg_hba.conf on the server.`;
  if (isUntrusted(error))
    return `${why} Check the certificate of the server, and that NODE_EXTRA_CA_CERTS names the file of the authority that signed it.`;
  return `${why} ${adviceOn[state] ?? 'Check that the server runs and can be reached from here, and that it has free connections and room on its disk.'}`;
}
