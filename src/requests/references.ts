import type { Scope, Tx } from '../db/connection.ts';

/** A reference, in lower-case hex, with the scope that it was read for. */
export type ScopedReference = { partner_id: string; test_mode: boolean; reference: string };
export type ReferencedRow = ScopedReference & { id: string; wallet_address: string };

/** The requests that references name, in any state. */
export async function findAllReferenced(tx: Tx, references: readonly ScopedReference[]): Promise<ReferencedRow[]> {
  if (references.length === 0) return [];
  const wanted = references.map(({ partner_id, test_mode, reference }) => ({ partner_id, test_mode, reference }));
  return tx<ReferencedRow[]>`
    select r.partner_id, r.test_mode, w.reference, r.id, r.wallet_address
    from json_to_recordset(${JSON.stringify(wanted)}::json) as w (partner_id uuid, test_mode boolean, reference text)
      join requests r on (r.partner_id, r.test_mode, r.reference)
        = (w.partner_id, w.test_mode, decode(w.reference, 'hex'))`;
}

/** The request that a reference names, in any state. */
export async function findReferenced(tx: Tx, scope: Scope, reference: Uint8Array): Promise<ReferencedRow | null> {
  const hex = Buffer.from(reference).toString('hex');
  const { partnerId: partner_id, testMode: test_mode } = scope;
  const [row] = await findAllReferenced(tx, [{ partner_id, test_mode, reference: hex }]);
  return row ?? null;
}
