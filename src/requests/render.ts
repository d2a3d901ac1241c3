import { offeredChains, offeredTokens } from '../chain/offered.ts';
import type { ChainConfig } from '../config/chains.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { modeOf } from '../lib/mode.ts';
import type { ShownRequest } from './store.ts';

/** CAIP-19 name of the first asset offered; if the operator offers none of its chains any more, of the mode's first. */
function firstAsset(chains: ChainConfig[], walletChainIds: number[] | null): string {
  const chain = offeredChains(chains, walletChainIds)[0] ?? offeredChains(chains, null)[0];
  return `eip155:${chain?.chainId}/erc20:${chain && offeredTokens(chain)[0]?.address}`;
}

/** The link a partner gives to the customer. */
export function payPageUrl(config: Pick<Config, 'payUrl'>, requestId: string): string {
  return `${config.payUrl}/${requestId}`;
}

/**
 * The request object as JSON text. Metadata is inserted as it was given, so its keys keep their order.
 *
 * @param replay marks the response to a repeated create
 */
export function renderRequest(ctx: Pick<Context, 'config' | 'chains'>, row: ShownRequest, replay = false): string {
  const fields = {
    ok: true,
    request_id: row.id,
    status: row.status,
    proof_status: row.proof_status,
    pay_page_url: payPageUrl(ctx.config, row.id),
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
    proof_verified_at: row.proof_verified_at?.toISOString() ?? null,
    tx_hash: row.proof_status === 'verified' ? row.tx_hash : null,
    amount: { fiat_int: Number(row.fiat_int), fiat_code: row.fiat_code, usdc_micro: row.usdc_micro },
    account_id: row.account_id,
    test_mode: row.test_mode,
    memo: row.memo,
    payment_mode: row.payment_mode,
    customer_name: row.customer_name,
    customer_email: row.customer_email,
    customer_phone: row.customer_phone,
    asset_id: row.asset_id ?? firstAsset(ctx.chains[modeOf(row.test_mode)], row.wallet_chain_ids),
    fiat_amount: Number(row.fiat_int),
    fiat_currency: row.fiat_code.toLowerCase(),
    ...(replay ? { idempotent_replay: true } : {}),
  };
  return `${JSON.stringify(fields).slice(0, -1)},"metadata":${row.metadata}}`;
}
