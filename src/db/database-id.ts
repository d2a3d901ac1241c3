import { insufficientPrivilege, type Sql, sqlState, type Tx } from './connection.ts';
import type { Fragment } from './sql.ts';

/**
 * An expression that identifies the database: the same on every server that follows the same primary, and another one
 * everywhere else.
 */
export const databaseId = (sql: Sql | Tx): Fragment => sql`
  (select concat_ws(' ', s.system_identifier, d.oid) from pg_control_system() s
    join pg_database d on d.datname = current_database())`;

/** An expression for the timeline of a position in a primary's log: promoting a standby begins another one. */
export const timelineAt = (sql: Sql | Tx, position: Fragment): Fragment =>
  sql`('x' || left(pg_walfile_name(${position}), 8))::bit(32)::int`;

/** The id of the database (`databaseId`); null where the login may not read it. */
export async function readDatabaseId(sql: Sql): Promise<string | null> {
  try {
    const [row] = await sql<{ id: string }[]>`select ${databaseId(sql)} as id`;
    return row?.id ?? null;
  } catch (error) {
    if (sqlState(error) !== insufficientPrivilege) throw error;
    return null;
  }
}
