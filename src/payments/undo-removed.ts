import { scopeOfRow } from '../auth/scope.ts';
import type { RemovedTransfer } from '../chain/reader/removed.ts';
import type { Scope, Tx } from '../db/connection.ts';
import { detachProof, lockForProof } from '../requests/proof.ts';
import { upsertKeptBinding } from './kept-binding-store.ts';
import { reserveRest } from './reserve-rest.ts';
import { sumMicro } from './rules.ts';
import { updateRematch } from './store.ts';
import { selectCounted } from './transfers.ts';

/**
 * Undoes what removed transfers have proved. An attached request that the remaining transfers no longer pay is without
 * proof again, second payments are matched again, and an amount is reserved for what is now left to pay. A verified
 * request never goes back. What was signed or decided manually is kept in case the transfer is mined again.
 *
 * @param tx the watcher's transaction that removed them. It belongs to no scope, so each statement names its own
 */
export async function undoRemoved(tx: Tx, removed: readonly RemovedTransfer[]): Promise<void> {
  const requests = new Map<string, RemovedTransfer>();
  for (const transfer of removed) {
    const { requestId, rule } = transfer;
    if (requestId === null) continue;
    requests.set(requestId, transfer);
    if (rule === 'claim' || rule === 'merchant') await upsertKeptBinding(tx, { ...transfer, requestId, rule });
  }
  // Everybody who locks several requests uses this order.
  const scopes = [...requests]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([requestId, { partnerId, testMode }]) => {
      return { requestId, scope: scopeOfRow({ partner_id: partnerId, test_mode: testMode }) };
    });
  for (const { requestId, scope } of scopes) await revertProof(tx, scope, requestId);
  // Only once all are locked, so that nobody who holds an amount in the registry waits for any of them.
  for (const { requestId, scope } of scopes) {
    const request = await lockForProof(tx, scope, requestId);
    if (request) await reserveRest(tx, scope, request, await selectCounted(tx, scope, requestId));
  }
}

async function revertProof(tx: Tx, scope: Scope, requestId: string): Promise<void> {
  const request = await lockForProof(tx, scope, requestId);
  if (request?.proof_status !== 'attached') return;
  const restMicro = sumMicro(await selectCounted(tx, scope, requestId));
  if (restMicro >= BigInt(request.usdc_micro)) return;
  await detachProof(tx, scope, requestId, 'reorged');
  await updateRematch(tx, scope, requestId);
}
