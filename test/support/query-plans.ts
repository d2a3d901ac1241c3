import pg from 'pg';
import { type Database, usualWaits } from '../../src/db/connection.ts';
import { connectionOptions } from '../../src/db/connection-options.ts';
import { ownSessionSettings } from '../../src/db/session-settings.ts';

/** A statement as the service sent it. */
export type Sent = { login: string; connection: number; text: string; parameters: unknown[] };

/** The statements that the service sends to the database while some work runs. */
export async function sentDuring({ pools }: Database, work: () => Promise<unknown>): Promise<Sent[]> {
  const sent: Sent[] = [];
  for (const pool of pools) {
    pool.observer = (connection, { text, values }) =>
      sent.push({ login: pool.user, connection, text, parameters: values });
  }
  await work().finally(() => {
    for (const pool of pools) pool.observer = null;
  });
  return sent.sort((a, b) => a.connection - b.connection);
}

type Node = { Plans?: Node[] } & Record<string, unknown>;

/** Rows that a plan reads from tables and indexes, including those it discards. */
export function rowsRead(node: Node): number {
  const number = (name: string) => Number(node[name] ?? 0);
  const kept = 'Relation Name' in node || node['Node Type'] === 'Bitmap Index Scan' ? number('Actual Rows') : 0;
  const own =
    (kept + number('Rows Removed by Filter') + number('Rows Removed by Index Recheck')) * number('Actual Loops');
  return (node.Plans ?? []).reduce((sum, child) => sum + rowsRead(child), own);
}

/**
 * How often a plan checks its scope's partner. Each check hashes the proof again. One check for each table of a
 * statement is enough; a subquery for each row of a page repeats it for each row.
 */
export function scopeChecks(node: Node): number {
  const number = (name: string) => Number(node[name] ?? 0);
  const asks = (name: string) => String(node[name] ?? '').includes('scope_partner()');
  const once = ['One-Time Filter', 'Index Cond', 'Recheck Cond'].some(asks) ? number('Actual Loops') : 0;
  const perRow = asks('Filter')
    ? (number('Actual Rows') + number('Rows Removed by Filter')) * number('Actual Loops')
    : 0;
  return (node.Plans ?? []).reduce((sum, child) => sum + scopeChecks(child), once + perRow);
}

/** Memory pages that a plan reads. Row counts do not include index entries that are skipped without a match. */
export const pagesRead = (node: Node) => Number(node['Shared Hit Blocks']) + Number(node['Shared Read Blocks']);

/** A transaction as the service sent it, or a statement outside of one. */
type Unit = { login: string; statements: { text: string; parameters: unknown[] }[] };

/**
 * Splits statements where transactions begin and end; the first statement within a scope also begins one. Statements
 * that clear a session are left out, because they would undo an explainer's settings.
 */
function unitsOf(sent: Sent[]): Unit[] {
  const units: Unit[] = [];
  let open: Unit | null = null;
  let at = -1;
  for (const { login, connection, text, parameters } of sent) {
    if (connection !== at) open = null;
    at = connection;
    const isEdge = /^(?:begin|commit|rollback|set role none)|begin_scoped/.test(text);
    const begins = text.startsWith('begin') || text.includes('enter_scope(');
    const unit: Unit = open && !begins && !isEdge ? open : { login, statements: [] };
    if (!isEdge) unit.statements.push({ text, parameters });
    if (unit !== open) units.push(unit);
    if (begins) open = unit;
    else if (isEdge) open = null;
  }
  return units.filter(({ statements }) => statements.length > 0);
}

/**
 * `force_generic_plan`: one plan for all parameters, as PostgreSQL may choose after five calls. `auto`: as the
 * service's own settings decide.
 */
export type Mode = 'force_custom_plan' | 'force_generic_plan' | 'auto';

/** Plans of units that were explained before, for calls between which no data changes. */
export type Explained = Map<string, Node[]>;

/**
 * Runs statements again under the service's settings and returns the plan of each, including those inside functions.
 */
export function openExplainer(url: string) {
  const plans: Node[] = [];
  const explaining = new pg.Client(connectionOptions({ url, waits: usualWaits, settings: ownSessionSettings }));
  explaining.on('notice', ({ message = '' }) => {
    const plan = /plan:\s*(\{.*\})/s.exec(message)?.[1];
    if (plan) plans.push(JSON.parse(plan).Plan);
  });
  const ready = explaining.connect().then(() =>
    explaining.query(
      `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;
     set auto_explain.log_timing = off; set auto_explain.log_buffers = on; set auto_explain.log_format = json;
     set auto_explain.log_nested_statements = on; set auto_explain.log_level = notice`,
    ),
  );
  const run = async ({ login, statements }: Unit, mode: Mode): Promise<Node[]> => {
    await explaining.query(`set session authorization ${login}; begin; set local plan_cache_mode = ${mode}`);
    plans.length = 0;
    for (const { text, parameters } of statements) {
      await explaining.query(text, parameters);
      if (mode !== 'auto' && text.includes('enter_scope('))
        await explaining.query(`set local plan_cache_mode = ${mode}`);
    }
    await explaining.query('rollback; reset session authorization');
    return plans.splice(0);
  };
  return {
    /** @param explained plans of earlier units, which are used for equal units */
    async explain(statements: Sent[], mode: Mode, explained: Explained = new Map()): Promise<Node[]> {
      await ready;
      const all: Node[] = [];
      for (const unit of unitsOf(statements)) {
        const key = JSON.stringify([mode, unit], (_, value) => (typeof value === 'bigint' ? String(value) : value));
        const found = explained.get(key) ?? (await run(unit, mode));
        explained.set(key, found);
        all.push(...found);
      }
      return all;
    },
    end: () => explaining.end(),
  };
}
