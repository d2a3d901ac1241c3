import { scopeOfRow } from '../../auth/scope.ts';
import type { Context } from '../../context.ts';
import { itemsInBatches } from '../../db/in-batches.ts';
import { type Behind, indexNext, selectBehind } from './metadata-store.ts';

const batch = 1_000;
const maxScopes = 1_000;

const keyOf = ({ partner_id, test_mode }: Behind) => `${partner_id} ${test_mode}`;

/**
 * Indexes the values of requests' metadata for searches. Scopes take turns, one batch each, so that one with a million
 * requests does not delay one with a few. A scope that fails is left for the next run. Until a request is indexed,
 * searches find it by reading the newest requests.
 *
 * @returns how many requests were read
 */
export function indexMetadata(ctx: Context, signal: AbortSignal): Promise<number> {
  return itemsInBatches(signal, {
    read: async (failed) => (await selectBehind(ctx.db.sql, maxScopes)).filter((row) => !failed.has(keyOf(row))),
    keyOf,
    handle: (row) => indexNext(ctx.db.sql, scopeOfRow(row), row, batch),
    logFailure: (error, row) =>
      ctx.log.error({ err: error, partner: row.partner_id }, 'metadata of requests could not be indexed'),
  });
}
