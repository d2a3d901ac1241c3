import type { FoundWallet, WalletProvider } from './wallets.ts';

/** WalletConnect's configuration from the server: where the code is, and what it needs. */
export type LazyOffer = { script: string; projectId: string; relayUrl: string; name: string };

/** What the page provides to the code that connects a wallet on another device. */
export type PairingPage = {
  offer: LazyOffer;
  /** What the wallet will be asked to do. */
  methods: string[];
  /** The networks that may be used, the chosen one first. */
  chainIds(): number[];
  /** The element in which the code to scan is shown. */
  place(): HTMLElement | null | undefined;
  /** Called when a code is shown. */
  shown(): void;
  /** Called with the name of the wallet that scanned the code. */
  named(name: string): void;
  /** The connection that the previous page kept. */
  kept?: KeptPairing | undefined;
};

/** A connection to a wallet that outlives its page: the wallet, its account, and WalletConnect's stored entries. */
export type KeptPairing = { name: string; account: string; entries: [string, unknown][] };

export type LazyProvider = WalletProvider & {
  /** Ends the connection to the wallet, if there is one. */
  leave(): Promise<void>;
  /** The data that the next page needs to continue with the same wallet. */
  keep(account: string): Promise<KeptPairing>;
};

/** A wallet whose code is loaded when it is first asked for an account. */
export class LazyWallet implements FoundWallet {
  static readonly uuid = 'walletconnect';
  readonly info = { uuid: LazyWallet.uuid, name: 'WalletConnect', icon: '', rdns: '' };
  readonly provider: LazyProvider;

  constructor(page: Omit<PairingPage, 'named'>) {
    let opened: Promise<LazyProvider> | undefined;
    if (page.kept) this.info.name = page.kept.name;
    const named = (name: string) => {
      this.info.name = name || this.info.name;
    };
    const open = async () => {
      const { openWalletConnect } = (await import(page.offer.script)) as {
        openWalletConnect(page: PairingPage): LazyProvider;
      };
      return openWalletConnect({ ...page, named });
    };
    const provider = () => {
      opened ??= open().catch((error) => {
        opened = undefined;
        throw Object.assign(new Error(String(error)), { code: 4900 });
      });
      return opened;
    };
    this.provider = {
      request: async (call) => (await provider()).request(call),
      leave: async () => (await opened)?.leave(),
      keep: async (account) => (await provider()).keep(account),
    };
  }
}
