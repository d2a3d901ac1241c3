import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { updateDisabled } from './store.ts';

/** One of a merchant's two switches: `by` is who disables the merchant with it. */
export type DisabledSwitch = { accountId: string; by: 'partner' | 'operator'; disabled: boolean };

/**
 * Sets one of a merchant's two switches, the partner's or the operator's. Either disables the merchant.
 *
 * @returns false if nothing changed: it was already set so, or the scope has no such merchant
 */
export function setMerchantDisabled(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  scope: Scope,
  { accountId, by, disabled }: DisabledSwitch,
): Promise<boolean> {
  return ctx.db.scoped(scope, async (tx) => {
    if (!(await updateDisabled(tx, scope, { accountId, by, disabled }))) return false;
    const action = disabled ? 'merchant.disabled' : 'merchant.enabled';
    await audit(ctx, tx, actor, { ...scope, action, object: { kind: 'merchant', id: accountId }, details: { by } });
    return true;
  });
}
