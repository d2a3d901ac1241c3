import type { FoundWallet, WalletProvider } from './wallets.ts';

/** What the server offers: where the code is, and what it needs. */
export type LazyOffer = { script: string; projectId: string; relayUrl: string; name: string };

/** What the page gives to the code that pairs with a wallet elsewhere. */
export type PairingPage = {
  offer: LazyOffer;
  /** The networks that can be paid on, the chosen one first. */
  chainIds(): number[];
  /** Where the code to scan is shown. */
  place(): HTMLElement | null | undefined;
  /** A code is shown. */
  shown(): void;
  /** The wallet that took it, by its name. */
  named(name: string): void;
};

export type LazyProvider = WalletProvider & {
  /** Ends the connection to the wallet, if there is one. */
  leave(): Promise<void>;
};

/** A wallet whose code is loaded when it is first asked for an account. */
export class LazyWallet implements FoundWallet {
  static readonly uuid = 'walletconnect';
  readonly info = { uuid: LazyWallet.uuid, name: 'WalletConnect', icon: '', rdns: '' };
  readonly provider: LazyProvider;

  constructor(page: Omit<PairingPage, 'named'>) {
    let opened: Promise<LazyProvider> | undefined;
    const named = (name: string) => {
      this.info.name = name || this.info.name;
    };
    const open = async () => {
      const { openWalletConnect } = (await import(page.offer.script)) as {
        openWalletConnect(page: PairingPage): LazyProvider;
      };
      return openWalletConnect({ ...page, named });
    };
    this.provider = {
      request: async (call) => {
        opened ??= open().catch((error) => {
          opened = undefined;
          throw Object.assign(new Error(String(error)), { code: 4900 });
        });
        return (await opened).request(call);
      },
      leave: async () => (await opened)?.leave(),
    };
  }
}
