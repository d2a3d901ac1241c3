import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { retryOnConflict } from '../db/conflict.ts';
import type { Scope } from '../db/connection.ts';
import { refuse } from '../errors.ts';
import { isUuid } from '../lib/ids.ts';
import { detachPartialPayments, isRelayed } from './cancel-store.ts';
import { lockForProof } from './proof.ts';
import { findRequest } from './read.ts';
import { renderRequest } from './render.ts';
import { type RequestRow, updateVoided } from './store.ts';

/** Why a request that looks unpaid stays: the service itself sends its payment. */
const onItsWay = 'A payment of this request is on its way: an automatic charge, or one that its customer has signed.';

/**
 * Voids a request that nobody has opened or paid. One guarded update decides, so a customer who opens the page or a
 * payment that arrives at the same moment comes either first or too late, never in between. Either all partial payments
 * are released with it, or nothing is voided. While the relayer sends a payment of the request, it is not voided: the
 * customer would pay for nothing.
 *
 * @throws Refusal not_found; cannot_cancel with the current request; unavailable while another transaction holds a
 * partial payment
 */
export function cancelRequest(ctx: Context, actor: Actor, scope: Scope, id: string): Promise<RequestRow> {
  if (!isUuid(id)) throw refuse('not_found');
  return retryOnConflict(() =>
    ctx.db.scoped(scope, async (tx) => {
      const relayed = (await lockForProof(tx, scope, id)) !== null && (await isRelayed(tx, scope, id));
      const voided = relayed ? null : await updateVoided(tx, scope, id);
      if (voided) {
        await detachPartialPayments(tx, scope, id);
        const object = { kind: 'request' as const, id: voided.id };
        await audit(ctx, tx, actor, { ...scope, action: 'request.cancelled', object, details: {} });
        return voided;
      }
      const current = await findRequest(tx, scope, id);
      if (!current) throw refuse('not_found');
      const isOpen = current.status === 'requested' && current.proof_status === 'none';
      const request = JSON.parse(renderRequest(ctx, current));
      throw refuse('cannot_cancel', { request }, isOpen ? onItsWay : undefined);
    }),
  );
}
