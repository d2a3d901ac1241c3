import type { Checkout } from '../read.ts';

/** The request for everybody who has its pay link: what the page shows, without data of the customer or the partner. */
export function requestObject({ row, merchant, progress, state, url }: Checkout): Record<string, unknown> {
  return {
    request_id: row.id,
    status: state.kind === 'expired' ? 'expired' : row.status,
    proof_status: row.proof_status,
    pay_page_url: url,
    payee: merchant,
    memo: row.memo,
    amount: { fiat_int: Number(row.fiat_int), fiat_code: row.fiat_code, usdc_micro: row.usdc_micro },
    missing_micro: ('missingMicro' in state ? state.missingMicro : progress.missingMicro).toString(),
    expires_at: row.expires_at.toISOString(),
    test_mode: row.test_mode,
    payments: progress.transfers.map(({ chainId, txHash, usdcMicro, final }) => ({
      network: `eip155:${chainId}`,
      transaction: txHash,
      usdc_micro: usdcMicro.toString(),
      final,
    })),
  };
}
