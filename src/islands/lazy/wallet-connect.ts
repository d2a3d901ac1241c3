import { SignClient } from '@walletconnect/sign-client';
import { renderSVG } from 'uqr';
import type { KeptPairing, LazyProvider, PairingPage } from '../lib/lazy-wallet.ts';
import { MemoryStorage } from './memory-storage.ts';

type Client = Awaited<ReturnType<typeof SignClient.init>>;
type Session = ReturnType<Client['session']['get']>;

const events = ['chainChanged', 'accountsChanged'];
/** How long the relay may take to accept a message. */
const relayMs = 10_000;
/** How many codes are shown. Each is valid for five minutes, so this is about an hour. */
const maxCodes = 12;
const maxNameLength = 40;

/** EIP-1193: the wallet's owner declined; the wallet cannot be reached. */
const declined = 4001;
const disconnected = 4900;

/**
 * A wallet on another device, or in another app on this one, through WalletConnect. It behaves like a wallet of this
 * browser.
 */
class WalletConnect implements LazyProvider {
  readonly #page: PairingPage;
  readonly #storage: MemoryStorage;
  #client: Promise<Client> | undefined;
  #pairing: Promise<Session> | undefined;
  #session: Session | null = null;
  #name = '';
  #uri = '';
  #chainId = 0;
  #lost: ((error: Error) => void) | undefined;

  constructor(page: PairingPage) {
    this.#page = page;
    this.#storage = new MemoryStorage(page.kept?.entries);
  }

  async request({ method, params = [] }: { method: string; params?: readonly unknown[] }): Promise<unknown> {
    switch (method) {
      case 'eth_requestAccounts':
        return this.#accountsOf(this.#session ?? (await this.#resume()) ?? (await this.#pair()));
      case 'eth_accounts':
        return this.#session ? this.#accountsOf(this.#session) : [];
      case 'eth_chainId':
        return `0x${this.#chainId.toString(16)}`;
      case 'wallet_switchEthereumChain':
        return this.#switchTo(Number((params[0] as { chainId: string }).chainId));
      default:
        return this.#forward(method, params);
    }
  }

  async leave(): Promise<void> {
    const session = this.#session;
    if (!session || !this.#client) return;
    this.#session = null;
    const client = await this.#client;
    // A failure does not matter: the session also expires by itself.
    await client
      .disconnect({ topic: session.topic, reason: { code: 6000, message: 'Paid, or left.' } })
      .catch(() => {});
  }

  async keep(account: string): Promise<KeptPairing> {
    return { name: this.#name, account, entries: await this.#storage.getEntries() };
  }

  /** The connection of the previous page; null if there is none, or the wallet has ended it. */
  async #resume(): Promise<Session | null> {
    if (!this.#page.kept) return null;
    const client = await this.#start();
    const session = client.session.getAll().at(-1);
    return session ? this.#begin(session) : null;
  }

  /** Shows a code until a wallet has scanned it. A second call shows the same code. */
  async #pair(): Promise<Session> {
    if (this.#uri) this.#show(this.#uri);
    this.#pairing ??= this.#propose().finally(() => {
      this.#pairing = undefined;
      this.#show('');
    });
    return this.#pairing;
  }

  async #propose(): Promise<Session> {
    const [first = 0, ...others] = this.#page.chainIds();
    const chains = [first, ...others].map((id) => `eip155:${id}`);
    for (let i = 0; i < maxCodes; i++) {
      const proposal = async () =>
        (await this.#start()).connect({
          optionalNamespaces: { eip155: { chains, methods: this.#page.methods, events } },
        });
      const { uri = '', approval } = await withTimeout(relayMs, proposal()).catch((error) => {
        throw fault(disconnected, String((error as Error).message));
      });
      this.#show(uri);
      try {
        return this.#begin(await approval());
      } catch (error) {
        if (!/expired/i.test((error as Error).message)) throw asWalletFault(error);
      }
    }
    throw fault(disconnected, 'No wallet connected.');
  }

  #begin(session: Session): Session {
    this.#session = session;
    const [account = ''] = session.namespaces.eip155?.accounts ?? [];
    const wanted = this.#page.chainIds()[0] ?? 0;
    this.#chainId = isOpenTo(session, wanted) ? wanted : Number(account.split(':')[1]);
    this.#name = session.peer.metadata.name.slice(0, maxNameLength);
    this.#page.named(this.#name);
    return session;
  }

  #accountsOf(session: Session): string[] {
    const prefix = `eip155:${this.#chainId}:`;
    const accounts = session.namespaces.eip155?.accounts ?? [];
    return accounts.filter((account) => account.startsWith(prefix)).map((account) => account.slice(prefix.length));
  }

  #switchTo(chainId: number): null {
    // A session allows only the networks that the wallet has agreed to.
    if (!this.#session || !isOpenTo(this.#session, chainId)) throw fault(4902, '');
    this.#chainId = chainId;
    return null;
  }

  async #forward(method: string, params: readonly unknown[]): Promise<unknown> {
    const session = this.#session;
    if (!session || !this.#page.methods.includes(method)) throw fault(4200, `${method} is not offered.`);
    const client = await this.#start();
    const request = { method, params: [...params] };
    const lost = new Promise((_, reject) => {
      this.#lost = reject;
    });
    const answer = client.request({ topic: session.topic, chainId: `eip155:${this.#chainId}`, request });
    return Promise.race([answer, lost]).catch((error) => {
      throw asWalletFault(error);
    });
  }

  #start(): Promise<Client> {
    this.#client ??= this.#init().catch((error) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #init(): Promise<Client> {
    const { projectId, relayUrl, name } = this.#page.offer;
    const client = await SignClient.init({
      projectId,
      relayUrl,
      metadata: { name, description: name, url: location.origin, icons: [] },
      storage: this.#storage,
      telemetryEnabled: false,
      logger: 'silent',
    });
    // It would load a page of another host to attest this site's address, which our content security policy forbids.
    client.core.verify.register = () => Promise.resolve('');
    const forget = ({ topic }: { topic: string }) => {
      if (topic !== this.#session?.topic) return;
      this.#session = null;
      this.#lost?.(fault(disconnected, 'The wallet ended the connection.'));
    };
    client.on('session_delete', forget);
    client.on('session_expire', forget);
    return client;
  }

  /** Shows the code to scan, and the link for a wallet on this device; hides both if there is no code. */
  #show(uri: string): void {
    this.#uri = uri;
    const place = this.#page.place();
    if (!place) return;
    // Who has copied the link has the focus in what disappears.
    if (uri === '' && place.contains(document.activeElement)) place.parentElement?.querySelector('button')?.focus();
    place.hidden = uri === '';
    place.dataset.uri = uri;
    const image = place.querySelector('[role="img"]');
    if (image) image.innerHTML = uri && renderSVG(uri, { border: 3, ecc: 'L' });
    const link = place.querySelector('a');
    if (link) link.href = uri;
    const copy = place.querySelector<HTMLElement>('[data-copy]');
    if (copy) copy.dataset.copy = uri;
    if (uri) this.#page.shown();
  }
}

/** Opens the wallet of the WalletConnect button. This file is loaded when the button is first pressed. */
export function openWalletConnect(page: PairingPage): LazyProvider {
  return new WalletConnect(page);
}

function isOpenTo({ namespaces }: Session, chainId: number): boolean {
  return (namespaces.eip155?.accounts ?? []).some((account) => account.startsWith(`eip155:${chainId}:`));
}

function fault(code: number, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** WalletConnect's own error codes for a refusal begin with 5. */
function asWalletFault(error: unknown): Error {
  const { code = 0, message = '' } = (error ?? {}) as { code?: number; message?: string };
  return fault(code >= 5000 && code < 5100 ? declined : code, message);
}

async function withTimeout<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer = 0;
  const timedOut = new Promise<never>((_, reject) => {
    timer = window.setTimeout(() => reject(new Error('The relay does not answer.')), limitMs);
  });
  return Promise.race([work, timedOut]).finally(() => clearTimeout(timer));
}
