import { randomUUIDv7 } from 'node:crypto';
import type { Scope, Tx } from '../db/connection.ts';
import { insertDeliveries } from './store.ts';

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
 * Writes the events of verified requests with the exact bytes that every attempt will send. Call it in the transaction
 * that sets `verified`. A second event of the same request changes nothing.
 */
export async function enqueueProofVerified(
  tx: Tx,
  events: readonly ({ scope: Scope } & ProofVerified)[],
): Promise<void> {
  const deliveries = events.map(({ scope, ...event }) => {
    const id = randomUUIDv7();
    const place = { partner_id: scope.partnerId, test_mode: scope.testMode, id, request_id: event.requestId };
    return { ...place, event: proofVerified, body: proofVerifiedBody(id, event) };
  });
  await insertDeliveries(tx, deliveries);
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
