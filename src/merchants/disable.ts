import type { Act } from '../audit/actions.ts';
import type { Database, Scope } from '../db/connection.ts';
import { updateDisabled } from './store.ts';

/** Whose switch it is. */
type Switch = 'partner' | 'operator';

/**
 * Turns one of the two switches of a merchant: the partner's own or the operator's. Either disables it.
 *
 * @returns false when it stands so already, or the scope has no such merchant: then nothing was changed
 */
export function setMerchantDisabled(
  db: Database,
  scope: Scope,
  accountId: string,
  by: Switch,
  disabled: boolean,
): Promise<boolean> {
  return db.scoped(scope, (tx) => updateDisabled(tx, scope, accountId, by, disabled));
}

/** What the audit log says of a switch that was turned. */
export function toldDisabled(scope: Scope, accountId: string, by: Switch, disabled: boolean): Act {
  const action = disabled ? 'merchant.disabled' : 'merchant.enabled';
  return { ...scope, action, object: { kind: 'merchant', id: accountId }, details: { by } };
}
