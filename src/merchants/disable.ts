import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { updateDisabled } from './store.ts';

/** Whose switch it is. */
type Switch = 'partner' | 'operator';

/**
 * Turns one of the two switches of a merchant: the partner's own or the operator's. Either disables it.
 *
 * @returns false when it stands so already, or the scope has no such merchant: then nothing was changed
 */
export function setMerchantDisabled(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  accountId: string,
  by: Switch,
  disabled: boolean,
): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    if (!(await updateDisabled(tx, scope, accountId, by, disabled))) return false;
    const action = disabled ? 'merchant.disabled' : 'merchant.enabled';
    await audit(ctx, tx, actor, { ...scope, action, object: { kind: 'merchant', id: accountId }, details: { by } });
    return true;
  });
}
