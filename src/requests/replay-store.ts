import type { Scope, Tx } from '../db/connection.ts';

/** Creates of a request that were repeated with different values. */
export type DifferingReplays = {
  times: number;
  last_at: Date;
  /** The names of the fields that differed in the last one. */
  last_fields: string[];
};

export async function upsertDiffering(tx: Tx, scope: Scope, id: string, fields: string[], now: Date): Promise<void> {
  await tx`
    insert into differing_replays as known (partner_id, test_mode, request_id, times, last_at, last_fields)
    values (${scope.partnerId}, ${scope.testMode}, ${id}, 1, ${now}, ${fields})
    on conflict (partner_id, test_mode, request_id) do update
      set times = known.times + 1, last_at = excluded.last_at, last_fields = excluded.last_fields`;
}

export async function selectDiffering(tx: Tx, scope: Scope, id: string): Promise<DifferingReplays | null> {
  const [row] = await tx<DifferingReplays[]>`
    select times, last_at, last_fields from differing_replays
    where partner_id = ${scope.partnerId} and test_mode = ${scope.testMode} and request_id = ${id}`;
  return row ?? null;
}
