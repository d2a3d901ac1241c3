import type { Database } from './connection.ts';

/**
 * Analyses tables that have doubled since their last statistics, or that have no statistics and are no longer tiny. The
 * server does so too, but up to a minute later. New statistics make all connections plan their statements again, also
 * those that were planned while a table was empty.
 *
 * @returns the names of the tables; none while another node does this
 */
export async function analyzeGrown({ sql }: Pick<Database, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select analyze_grown() as name`;
  return rows.map(({ name }) => name);
}
