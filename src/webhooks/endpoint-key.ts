/** Identifies an endpoint by its partner and its mode. */
export type EndpointId = { partner_id: string; test_mode: boolean };

/** Names an endpoint within this process. */
export function endpointKey(row: EndpointId): string {
  return `${row.partner_id} ${row.test_mode}`;
}
