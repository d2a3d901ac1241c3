import type { Database } from './connection.ts';

/**
 * Analyses the tables that are twice as large as their statistics say, or have none and are not tiny any more. The
 * server does so, too, but up to a minute later; and what it learns then makes all connections plan their statements
 * anew, also those prepared while a table was empty.
 *
 * @returns their names; none while another node is at it
 */
export async function analyzeGrown({ sql }: Pick<Database, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select analyze_grown() as name`;
  return rows.map(({ name }) => name);
}
