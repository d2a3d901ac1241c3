/** EIP-1193: how a page talks to a wallet. */
export type WalletProvider = { request(call: { method: string; params?: readonly unknown[] }): Promise<unknown> };
/** A wallet that announced itself (EIP-6963). */
export type FoundWallet = {
  info: { uuid: string; name: string; icon: string; rdns: string };
  provider: WalletProvider;
};
/** A network that a wallet is to be on; `publicRpcUrl` lets it learn to know a network. */
export type WalletChain = {
  chainId: number;
  name: string;
  publicRpcUrl?: string;
  coin?: string;
  explorerUrl: string | null;
};

/** Tells all wallets of this browser, anew each time another one announces itself. */
export function watchWallets(show: (wallets: FoundWallet[]) => void): void {
  const found = new Map<string, FoundWallet>();
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = (event as CustomEvent<FoundWallet>).detail;
    if (!wallet?.info?.uuid || !wallet.provider) return;
    found.set(wallet.info.uuid, wallet);
    show([...found.values()]);
  });
  window.dispatchEvent(new Event('eip6963:requestProvider'));
}

/** Asks for the wallet's account, in lower case; null when it gives none. Throws what the wallet throws. */
export async function askAccount({ provider }: FoundWallet): Promise<string | null> {
  const [account] = (await provider.request({ method: 'eth_requestAccounts' })) as string[];
  return account?.toLowerCase() ?? null;
}

/** The accounts the page may already see, without asking anybody. */
export async function knownAccounts({ provider }: FoundWallet): Promise<string[]> {
  const accounts = (await provider.request({ method: 'eth_accounts' })) as string[];
  return accounts.map((account) => account.toLowerCase());
}

/** The network the wallet is on. */
export async function currentChain({ provider }: FoundWallet): Promise<number> {
  return Number(await provider.request({ method: 'eth_chainId' }));
}

/** Moves the wallet to a network, and adds it where the wallet does not know it. Throws what the wallet throws. */
export async function changeChain({ provider }: FoundWallet, chain: WalletChain): Promise<void> {
  const chainId = `0x${chain.chainId.toString(16)}`;
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

/** True when the wallet's owner said no. */
export function isDeclined(error: unknown): boolean {
  return codeOf(error) === 4001;
}

/** Some wallets on phones wrap the code of the error they mean. */
export function codeOf(error: unknown): number | undefined {
  const { code, data } = (error ?? {}) as { code?: number; data?: { originalError?: { code?: number } } };
  return data?.originalError?.code ?? code;
}

/** An icon that may be shown: pages load no picture from elsewhere. */
export function iconOf({ info }: FoundWallet): string | null {
  return /^data:image\//.test(info.icon) ? info.icon : null;
}
