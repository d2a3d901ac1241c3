import type { Database, Tx } from '../../src/db/connection.ts';
import { lockBatch } from '../../src/payments/batches/lock.ts';
import { attachProofs, verifyProofs } from '../../src/requests/proof.ts';
import { findAllReferenced } from '../../src/requests/references.ts';
import { findReservations } from '../../src/requests/reservations.ts';
import type { RequestRow } from '../../src/requests/store.ts';

const wallet = '0xfe';
const toPaid = ({ partner_id, test_mode, reserved_micro }: RequestRow & { reserved_micro: string }) => ({
  ...{ partner_id, test_mode, wallet_address: wallet, chain_id: 31337 },
  ...{ paid_micro: reserved_micro, paid_at: new Date(), around_micro: '0' },
});

/**
 * The statements, by name, that match and verify several payments of a merchant together. Before, a thousand of its
 * requests reserve an amount each, which the database's statistics do not include.
 */
export async function paymentStatements(
  { sql }: Database,
  accountId: string,
): Promise<{ payments: number; statements: Record<string, (tx: Tx) => Promise<unknown>> }> {
  await sql`
    insert into amount_reservations
    select ${wallet}, row_number() over (), partner_id, test_mode, id, now(), now() from requests
    where account_id = ${accountId} and proof_status = 'none' limit 1000`;
  const requests = await sql<(RequestRow & { reserved_micro: string })[]>`
    select r.*, a.usdc_micro as reserved_micro from requests r join amount_reservations a on a.request_id = r.id
    where a.wallet_address = ${wallet} limit 50`;
  const proofs = requests.map((row) => ({ ...row, tx_hash: '0x', payer_address: '0x', asset_id: 'x' }));
  const references = requests.map((row) => ({ ...row, reference: Buffer.from(row.reference).toString('hex') }));
  return {
    payments: requests.length,
    statements: {
      'reserved amounts': (tx) => findReservations(tx, requests.map(toPaid)),
      references: (tx) => findAllReferenced(tx, references),
      'what is locked': (tx) => lockBatch(tx, requests, []),
      attached: (tx) => attachProofs(tx, proofs),
      verified: (tx) => verifyProofs(tx, proofs),
    },
  };
}
