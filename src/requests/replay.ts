import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { findRequest } from './read.ts';
import { type DifferingReplays, selectDiffering, upsertDiffering } from './replay-store.ts';
import { differingFields } from './rules.ts';
import type { RequestRow } from './store.ts';

export type { DifferingReplays } from './replay-store.ts';

/**
 * The request that an earlier create made, in its current state. If the repeated call had different values, that is
 * recorded for the partner, with one more statement.
 *
 * @param body of the repeated call, valid or not
 */
export async function replayRequest(
  ctx: Context,
  scope: Scope,
  id: string,
  body: Record<string, unknown>,
): Promise<RequestRow> {
  return ctx.db.scoped(scope, async (tx) => {
    const row = await findRequest(tx, scope, id);
    if (!row) throw new Error(`request ${id} vanished`); // requests are never deleted
    const fields = differingFields(row, body);
    if (fields.length > 0) await upsertDiffering(tx, scope, id, fields, ctx.clock.now());
    return row;
  });
}

/** How often a request's create was repeated with different values; null when it never was. */
export function readDifferingReplays(ctx: Context, scope: Scope, id: string): Promise<DifferingReplays | null> {
  return ctx.db.scoped(scope, (tx) => selectDiffering(tx, scope, id));
}
