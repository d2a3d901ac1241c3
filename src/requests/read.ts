import type { Database, Scope, Tx } from '../db/connection.ts';
import { refuseRequest } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { selectRequest } from './read-store.ts';
import { type RequestFilter, type RequestRow, type ShownRequest, selectRequests } from './store.ts';

/**
 * A request of the scope, with its current status.
 *
 * @throws Refusal not_found for ids that are malformed, unknown, another partner's or of the other mode
 */
export async function readRequest(db: Database, scope: Scope, id: string): Promise<RequestRow> {
  const [row] = isUuid(id) ? await db.readPrimary(scope, (sql) => selectRequest(sql, scope, id)) : [];
  if (!row) throw refuseRequest();
  return row;
}

/** One page of a scope's requests plus one row, by `created_at`. */
export function listRequests(db: Database, scope: Scope, filter: RequestFilter): Promise<ShownRequest[]> {
  return db.read(scope, (sql) => selectRequests(sql, scope, filter));
}

/** A request of the scope, with its current status; null for an unknown id. Unlike `readRequest` it expects a UUID. */
export async function findRequest(tx: Tx, scope: Scope, id: string): Promise<RequestRow | null> {
  const [row] = await selectRequest(tx, scope, id);
  return row ?? null;
}
