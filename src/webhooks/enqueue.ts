import { randomUUID } from 'node:crypto';
import type { Scope, Tx } from '../db/connection.ts';
import { insertDelivery } from './store.ts';

export const proofVerified = 'payment.proof_verified';

export type ProofVerified = {
  requestId: string;
  accountId: string;
  txHash: string;
  payerAddress: string;
  /** JSON text with its keys in order; goes into the body unchanged. */
  metadata: string;
  verifiedAt: Date;
};

/**
 * Writes the event of a verified request with the exact bytes that every attempt will send. Call it in the transaction
 * that sets `verified`. A second call for the same request changes nothing.
 */
export async function enqueueProofVerified(tx: Tx, scope: Scope, event: ProofVerified): Promise<void> {
  const id = randomUUID();
  await insertDelivery(tx, scope, {
    id,
    requestId: event.requestId,
    event: proofVerified,
    body: proofVerifiedBody(id, event),
  });
}

/** The payload, fields in the order of the OpenAPI document. */
export function proofVerifiedBody(deliveryId: string, event: ProofVerified): string {
  const text = JSON.stringify;
  return `{${[
    `"event":${text(proofVerified)}`,
    `"delivery_id":${text(deliveryId)}`,
    `"request_id":${text(event.requestId)}`,
    `"account_id":${text(event.accountId)}`,
    '"proof_status":"verified"',
    `"tx_hash":${text(event.txHash)}`,
    `"payer_address":${text(event.payerAddress)}`,
    `"metadata":${event.metadata}`,
    `"timestamp":${text(event.verifiedAt.toISOString())}`,
  ].join(',')}}`;
}
