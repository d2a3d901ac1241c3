import type { Database, Scope } from '../db/connection.ts';
import { type PayPageRow, selectPayPage } from './page-store.ts';

export type { PayPageRow } from './page-store.ts';

/** A request with everything about merchant and partner that its customer may see; null if there is none. */
export async function readPayPageRow(db: Database, scope: Scope, requestId: string): Promise<PayPageRow | null> {
  const [row] = await db.readPrimary(scope, (sql) => selectPayPage(sql, scope, requestId));
  return row ?? null;
}
