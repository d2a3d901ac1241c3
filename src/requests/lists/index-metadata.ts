import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { indexNext, selectBehind } from './metadata-store.ts';

const batch = 1_000;
const maxScopes = 1_000;
const maxTurns = 100;

/**
 * Indexes the values of requests' metadata for searches. Scopes take turns, one batch each, so that one with a million
 * requests does not delay one with a few. A scope that fails is left for the next run. Until a request is indexed,
 * searches find it by reading the newest requests.
 *
 * @returns how many requests were read
 */
export async function indexMetadata(ctx: Context, signal: AbortSignal): Promise<number> {
  const failed = new Set<string>();
  let read = 0;
  for (let turn = 0; turn < maxTurns; turn++) {
    const behind = await selectBehind(ctx.db.sql, maxScopes);
    const waiting = behind.filter((row) => !failed.has(`${row.partner_id} ${row.test_mode}`));
    if (waiting.length === 0) break;
    for (const row of waiting) {
      if (signal.aborted) return read;
      try {
        read += await indexNext(ctx.db.sql, scopeOfRow(row), row, batch);
      } catch (error) {
        failed.add(`${row.partner_id} ${row.test_mode}`);
        ctx.log.error({ err: error, partner: row.partner_id }, 'metadata of requests could not be indexed');
      }
    }
  }
  return read;
}
