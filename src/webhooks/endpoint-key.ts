/** Names an endpoint within this process. */
export function endpointKey(row: { partner_id: string; test_mode: boolean }): string {
  return `${row.partner_id} ${row.test_mode}`;
}
