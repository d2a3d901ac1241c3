import { StartFault } from '../lib/start-fault.ts';
import type { Sql } from './connection.ts';

/**
 * Refuses a new database in which not every text can be stored, or in which texts are only bytes.
 *
 * @throws StartFault that says how to create another one
 */
export async function refuseEncoding(owner: Sql): Promise<void> {
  const [row] = await owner<{ name: string; encoding: string; used: boolean }[]>`
    select current_database() as name, current_setting('server_encoding') as encoding,
      to_regclass('public.schema_migrations') is not null as used`;
  if (!row || row.used || row.encoding === 'UTF8') return;
  throw new StartFault(
    `The database ${row.name} has the encoding ${row.encoding}. Create it again with UTF8: create database ${row.name} owner ${owner.user} encoding 'UTF8' template template0.`,
  );
}
