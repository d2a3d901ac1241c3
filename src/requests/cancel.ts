import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { detachPartialPayments } from './cancel-store.ts';
import { findRequest } from './read.ts';
import { renderRequest } from './render.ts';
import { type RequestRow, updateVoided } from './store.ts';

/**
 * Voids a request that nobody has opened or paid. One guarded update decides, so a customer who opens the page or a
 * payment that arrives at the same moment comes either first or too late, never in between. Either all partial payments
 * are released with it, or nothing is voided.
 *
 * @throws Refusal not_found; cannot_cancel with the current request; unavailable while another transaction holds a
 * partial payment
 */
export function cancelRequest(ctx: Context, actor: Actor, scope: Scope, id: string): Promise<RequestRow> {
  if (!isUuid(id)) throw refuse('not_found');
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const voided = await updateVoided(tx, scope, id);
      if (voided) {
        await detachPartialPayments(tx, scope, id);
        const object = { kind: 'request' as const, id: voided.id };
        await audit(ctx, tx, actor, { ...scope, action: 'request.cancelled', object, details: {} });
        return voided;
      }
      const current = await findRequest(tx, scope, id);
      if (!current) throw refuse('not_found');
      throw refuse('cannot_cancel', { request: JSON.parse(renderRequest(ctx, current)) });
    }),
  );
}
