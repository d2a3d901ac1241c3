import { oneLine } from '../../lib/text/one-line.ts';
import { firstVisible } from '../../lib/text/visible.ts';

/** EIP-1193: how a page talks to a wallet. */
export type WalletProvider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };
/** A wallet that announced itself (EIP-6963). */
export type FoundWallet = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: WalletProvider;
};
/** A network to which a wallet can switch. With `publicRpcUrl`, the wallet can add a network that it does not know. */
export type WalletChain = {
  chainId: number;
  name: string;
  publicRpcUrl?: string;
  coin?: string;
  explorerUrl: string | null;
};

const quietAnswerMs = 4_000;
const maxNameLength = 40;

/** An announced wallet. Any extension can announce anything, which must not hide other wallets; null if it is none. */
function readWallet(detail: unknown): FoundWallet | null {
  const { info, provider } = (detail ?? {}) as Partial<FoundWallet>;
  const { uuid, name, icon, rdns } = (info ?? {}) as Record<string, unknown>;
  if (typeof provider?.request !== 'function' || typeof uuid !== 'string' || typeof name !== 'string') return null;
  const shown = firstVisible(oneLine(name).slice(0, maxNameLength));
  return shown === null ? null : { info: { uuid, name: shown, icon: String(icon), rdns: String(rdns) }, provider };
}

/** Calls back with all wallets of this browser whenever another one announces itself. */
export function watchWallets(show: (wallets: FoundWallet[]) => void): void {
  const found = new Map<string, FoundWallet>();
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = readWallet((event as CustomEvent<unknown>).detail);
    if (!wallet) return;
    found.set(wallet.info.uuid, wallet);
    show([...found.values()]);
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
}

/** Asks the wallet for its account, in lower case; null if it gives none. Throws what the wallet throws. */
export async function requestAccount({ provider }: FoundWallet): Promise<string | null> {
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as string[];
  return account?.toLowerCase() ?? null;
}

/** A wallet's answer to a question that needs no consent; undefined if it fails or does not answer in time. */
export async function requestQuietly(provider: WalletProvider, method: string, params: unknown[]): Promise<unknown> {
  const timedOut = new Promise((resolve) => setTimeout(resolve, quietAnswerMs));
  const answer = async () => provider.request({ method, params }); // some wallets throw at once
  return Promise.race([answer(), timedOut]).catch(() => undefined);
}

/**
 * The accounts that the page may already see, in lower case; none if the wallet does not answer in time. The wallet
 * does not ask its owner.
 */
export async function knownAccounts({ provider }: FoundWallet): Promise<string[]> {
  const accounts = await requestQuietly(provider, 'eth_accounts', []);
  return Array.isArray(accounts) ? accounts.map((account) => String(account).toLowerCase()) : [];
}

/** A chain's id in hex, as wallets expect it. */
export const hexId = (chainId: number) => `0x${chainId.toString(16)}`;

/** The network the wallet is on. */
export async function currentChain({ provider }: FoundWallet): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

/** Switches the wallet to a network, and adds it if the wallet does not know it. Throws what the wallet throws. */
export async function changeChain({ provider }: FoundWallet, chain: WalletChain): Promise<void> {
  const chainId = hexId(chain.chainId);
  try {
    await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  } catch (error) {
    if (codeOf(error) !== 4902 || !chain.publicRpcUrl) throw error;
    const symbol = chain.coin ?? 'ETH';
    const details = {
      chainId,
      chainName: chain.name,
      rpcUrls: [chain.publicRpcUrl],
      nativeCurrency: { name: symbol, symbol, decimals: 18 },
      ...(chain.explorerUrl ? { blockExplorerUrls: [chain.explorerUrl] } : {}),
    };
    await provider.request({ method: 'wallet_addEthereumChain', params: [details] });
  }
}

/** Has a text signed by an account of the wallet. Throws what the wallet throws. */
export async function signText({ provider }: FoundWallet, account: string, text: string): Promise<string> {
  const bytes = new TextEncoder().encode(text);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return (await provider.request({ method: 'personal_sign', params: [`0x${hex}`, account] })) as string;
}

/** Whether the wallet's owner declined. */
export function isDeclined(error: unknown): boolean {
  return codeOf(error) === 4001;
}

/** The code of a wallet's error. Some wallets on phones wrap it. */
export function codeOf(error: unknown): number | undefined {
  const { code, data } = (error ?? {}) as { code?: number; data?: { originalError?: { code?: number } } };
  return data?.originalError?.code ?? code;
}

/** The wallet's icon if it is a data URL, because pages load no pictures from other sites; otherwise null. */
export function iconOf({ info }: FoundWallet): string | null {
  return /^data:image\//.test(info.icon) ? info.icon : null;
}
