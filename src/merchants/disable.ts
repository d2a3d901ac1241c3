import type { Database, Scope } from '../db/connection.ts';
import { updateDisabled } from './store.ts';

/**
 * Turns one of the two switches of a merchant: the partner's own or the operator's. Either disables it.
 *
 * @returns false when it stands so already, or the scope has no such merchant: then nothing was changed
 */
export function setMerchantDisabled(
  db: Database,
  scope: Scope,
  accountId: string,
  by: 'partner' | 'operator',
  disabled: boolean,
): Promise<boolean> {
  return db.scoped(scope, (tx) => updateDisabled(tx, scope, accountId, by, disabled));
}
