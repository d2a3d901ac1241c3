/** A row of `transfers` as a statement that deletes it returns it. */
export type RemovedRow = {
  tx_hash: string;
  ordinal: number;
  partner_id: string;
  test_mode: boolean;
  request_id: string | null;
  rule: string | null;
  token_address: string;
  from_address: string;
  to_address: string;
  value: string;
};

/** A transfer that was removed, by a reorganisation or because all endpoints deny it. Its row is gone. */
export type RemovedTransfer = {
  chainId: number;
  txHash: string;
  ordinal: number;
  partnerId: string;
  testMode: boolean;
  /** The request it was applied to; null for none. */
  requestId: string | null;
  /** By which rule it was applied; null for none. */
  rule: string | null;
  tokenAddress: string;
  fromAddress: string;
  toAddress: string;
  value: bigint;
};

export function toRemoved(chainId: number, row: RemovedRow): RemovedTransfer {
  return {
    chainId,
    txHash: row.tx_hash,
    ordinal: row.ordinal,
    partnerId: row.partner_id,
    testMode: row.test_mode,
    requestId: row.request_id,
    rule: row.rule,
    tokenAddress: row.token_address,
    fromAddress: row.from_address,
    toAddress: row.to_address,
    value: BigInt(row.value),
  };
}
