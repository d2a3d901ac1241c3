import { balanceOf } from './funds.ts';
import type { PayOption } from './order.ts';
import { refusalFrom, WalletRefusal } from './refusal.ts';
import { formatUsdc } from './texts.ts';
import { codeOf, type FoundWallet, hexId, requestQuietly } from './wallets.ts';

/** Error codes of wallets that do not support `wallet_sendCalls` after all, or not the capability. */
const notOffered = [4200, -32601, 5700];
const statusEveryMs = 1_000;
const statusTries = 300;

/** Throws WalletRefusal if the balance is too small, before the wallet asks its owner. An unknown balance passes. */
export async function checkBalance(wallet: FoundWallet, account: string, option: PayOption): Promise<void> {
  const balance = await balanceOf(wallet, account, option);
  if (balance === null || balance >= BigInt(option.micro)) return;
  throw new WalletRefusal('insufficient', { amount: formatUsdc(balance) });
}

/**
 * Has a wallet send the transfer with the reference at the end of its calldata: by EIP-5792 if the wallet supports it,
 * otherwise appended here.
 *
 * @param sent called once the wallet has accepted it
 * @returns the transaction's hash; null if the wallet does not report it in time
 * @throws WalletRefusal
 */
export async function sendPayment(
  wallet: FoundWallet,
  account: string,
  option: PayOption,
  suffix: string,
  sent: () => void,
): Promise<string | null> {
  if (await offersSuffix(wallet, account, option)) {
    const calls = await sendCalls(wallet, account, option, suffix);
    if (calls) {
      sent();
      return calls.id === null ? null : callsHash(wallet, calls.id);
    }
  }
  const { token, data, chain } = option;
  const transaction = {
    from: account,
    to: token,
    value: '0x0',
    data: data + suffix.slice(2),
    chainId: hexId(chain.chainId),
  };
  const hash = await wallet.provider
    .request({ method: 'eth_sendTransaction', params: [transaction] })
    .catch((error) => Promise.reject(refusalFrom(error, 'failed')));
  sent();
  return hash as string;
}

type Capabilities = Record<string, { dataSuffix?: { supported?: boolean } } | undefined>;

async function offersSuffix({ provider }: FoundWallet, account: string, { chain }: PayOption): Promise<boolean> {
  const id = hexId(chain.chainId);
  const offered = (await requestQuietly(provider, 'wallet_getCapabilities', [account, [id]])) as
    | Capabilities
    | undefined;
  return (offered?.[id] ?? offered?.['0x0'])?.dataSuffix?.supported === true;
}

/** The accepted calls, `id` null if the wallet does not name them; null if it does not support such calls after all. */
async function sendCalls(
  wallet: FoundWallet,
  from: string,
  { chain, token, data }: PayOption,
  suffix: string,
): Promise<{ id: string | null } | null> {
  const calls = {
    version: '2.0.0',
    from,
    chainId: hexId(chain.chainId),
    atomicRequired: false,
    calls: [{ to: token, value: '0x0', data }],
    capabilities: { dataSuffix: { value: suffix } },
  };
  try {
    const answer = await wallet.provider.request({ method: 'wallet_sendCalls', params: [calls] });
    const id = typeof answer === 'string' ? answer : (answer as { id?: unknown } | null | undefined)?.id;
    return { id: typeof id === 'string' ? id : null };
  } catch (error) {
    if (notOffered.includes(codeOf(error) ?? 0)) return null;
    throw refusalFrom(error, 'failed');
  }
}

type CallsStatus = { status?: number | string; receipts?: { transactionHash?: string }[] };

/** Waits until the wallet reports the hash; null if it does not in time. */
async function callsHash({ provider }: FoundWallet, id: string): Promise<string | null> {
  for (let i = 0; i < statusTries; i++) {
    const status = (await requestQuietly(provider, 'wallet_getCallsStatus', [id])) as CallsStatus | undefined;
    const hash = status?.receipts?.at(-1)?.transactionHash;
    if (hash) return hash;
    if (Number(status?.status) >= 400) throw new WalletRefusal('reverted');
    await new Promise((resolve) => setTimeout(resolve, statusEveryMs));
  }
  return null;
}
