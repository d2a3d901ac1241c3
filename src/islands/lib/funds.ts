import type { PayOption } from './order.ts';
import { currentChain, type FoundWallet, hexId, requestQuietly } from './wallets.ts';

/** An account's balance of an option's token, in micro units, read on the wallet's current network; null if unknown. */
export async function balanceOf({ provider }: FoundWallet, account: string, option: PayOption): Promise<bigint | null> {
  const data = `0x70a08231${account.slice(2).padStart(64, '0')}`;
  return toBigInt(await requestQuietly(provider, 'eth_call', [{ to: option.token, data }, 'latest']));
}

/**
 * An account's balance for each option, as far as its wallet reports it: on all networks (EIP-7811), otherwise on the
 * current one.
 */
export async function balances(
  wallet: FoundWallet,
  account: string,
  options: PayOption[],
): Promise<Map<PayOption, bigint>> {
  const held = await allAssets(wallet, account, options);
  if (held.size > 0) return held;
  const here = await currentChain(wallet).catch(() => 0);
  for (const option of options) {
    if (option.chain.chainId !== here) continue;
    const balance = await balanceOf(wallet, account, option);
    if (balance !== null) held.set(option, balance);
  }
  return held;
}

type Assets = Record<string, { address?: string; balance?: string }[]>;

async function allAssets({ provider }: FoundWallet, account: string, options: PayOption[]) {
  const assetFilter: Record<string, { address: string; type: string }[]> = {};
  for (const { chain, token } of options) {
    const id = hexId(chain.chainId);
    assetFilter[id] = [...(assetFilter[id] ?? []), { address: token, type: 'erc20' }];
  }
  const assets = (await requestQuietly(provider, 'wallet_getAssets', [{ account, assetFilter }])) as Assets | undefined;
  const held = new Map<PayOption, bigint>();
  for (const option of options) {
    const list = assets?.[hexId(option.chain.chainId)];
    const found = Array.isArray(list) && list.find(({ address }) => address?.toLowerCase() === option.token);
    const balance = found ? toBigInt(found.balance) : null;
    if (balance !== null) held.set(option, balance);
  }
  return held;
}

function toBigInt(value: unknown): bigint | null {
  return typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) ? BigInt(value) : null;
}
