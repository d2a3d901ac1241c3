import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse, refuseRequest } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { detachPartialPayments, isBeingCharged } from './cancel-store.ts';
import { lockForProof } from './proof.ts';
import { findRequest } from './read.ts';
import { renderRequest } from './render.ts';
import { type RequestRow, updateVoided } from './store.ts';

/** Why a request that looks unpaid stays. */
const beingCharged = 'An automatic charge of this request is on its way.';

/**
 * Voids a request that nobody has opened or paid. One guarded update decides, so a customer who opens the page or a
 * payment that arrives at the same moment comes either first or too late, never in between. Either all partial payments
 * are released with it, or nothing is voided. While an automatic charge is on its way, the request is not voided: the
 * customer would pay for nothing. What a customer has signed and sent meanwhile can be refunded.
 *
 * @throws Refusal not_found; cannot_cancel with the current request; unavailable while another transaction holds a
 * partial payment
 */
export function cancelRequest(ctx: Context, actor: Actor, scope: Scope, id: string): Promise<RequestRow> {
  if (!isUuid(id)) throw refuseRequest();
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const charged = (await lockForProof(tx, scope, id)) !== null && (await isBeingCharged(tx, scope, id));
      const voided = charged ? null : await updateVoided(tx, scope, id);
      if (voided) {
        await detachPartialPayments(tx, scope, id);
        const object = { kind: 'request' as const, id: voided.id };
        await audit(ctx, tx, actor, { ...scope, action: 'request.cancelled', object, details: {} });
        return voided;
      }
      const current = await findRequest(tx, scope, id);
      if (!current) throw refuseRequest();
      const request = JSON.parse(renderRequest(ctx, current));
      throw refuse('cannot_cancel', { request }, charged ? beingCharged : undefined);
    }),
  );
}
