import { type Step, traced } from '../lib/trace.ts';
import type { Sendable } from './sql.ts';

/** `session`: the id of the server's process that ran it, which the server's own log shows too. */
export type SlowStatement = { statement: string; session: number; duration_ms: number };

const slowMs = 1_000;
const maxCharacters = 60;

/** The beginning of a statement's text, up to the first value, so that it never contains data. */
function beginningOf({ text }: Sendable): string {
  const [beginning = ''] = text.slice(0, 4 * maxCharacters).split(/['$]/, 1);
  return beginning.replaceAll(/\s+/g, ' ').trim().slice(0, maxCharacters);
}

/**
 * Sends a statement as a step of the current trail. An error names the statement and its session, so that a line of our
 * log leads to the line in the server's log.
 */
export function tracedStatement<T>(
  statement: Sendable,
  session: number,
  onSlow: ((slow: SlowStatement) => void) | null,
  send: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const step = (): Step => ({
    name: beginningOf(statement),
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'quittance.db_session': session },
  });
  return traced(step, async () => {
    try {
      return await send();
    } catch (error) {
      throw Object.assign(error as Error, { session, statement: beginningOf(statement) });
    } finally {
      const tookMs = performance.now() - startedAt;
      if (tookMs >= slowMs) onSlow?.({ statement: beginningOf(statement), session, duration_ms: Math.round(tookMs) });
    }
  });
}
