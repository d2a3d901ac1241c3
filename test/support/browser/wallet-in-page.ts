import { randomUUID } from 'node:crypto';
import type { BrowserContext } from 'playwright-core';
import { concat, createWalletClient, type Hex, hexToBigInt, http, numberToHex, padHex } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { callRpc, RpcError } from '../../../src/chain/rpc.ts';
import type { ChainConfig } from '../../../src/config/chains.ts';

type Call = { method: string; params: unknown[] };
type Sent = { hash: Hex; chainId: number };

/**
 * A wallet in the browser that really signs and sends. What a test changes on it applies from the next call on.
 *
 * It is empty at first: give it funds with the chain's `fund`, or leave it empty.
 */
export type PageWallet = {
  name: string;
  account: PrivateKeyAccount;
  /** The chains it knows. For any other it answers 4902 until the page adds it. */
  chains: ChainConfig[];
  /** Chains that it accepts when a page adds them. */
  addable: ChainConfig[];
  /** The current chain. One that is not among `chains` is a foreign network. */
  chainId: number;
  /** Methods that its owner declines (4001). */
  declines: Set<string>;
  /** Methods that fail, with their errors. */
  faults: Map<string, { code: number; message: string }>;
  /** Reports its balances on all its chains (EIP-7811). */
  offersAssets: boolean;
  /** Offers EIP-5792: `wallet_sendCalls` with the data suffix. */
  offersCalls: boolean;
  /** Runs before each answer. A test that waits here sees the page waiting for the wallet. */
  before(method: string): Promise<void> | void;
  /** The page's calls, oldest first. */
  readonly asked: Call[];
  /** The transactions it sent, oldest first; not necessarily mined. */
  readonly sent: Sent[];
};

/** A new wallet with its own key, on the first of its chains. */
export function pageWallet(details: Partial<PageWallet> & { chains: ChainConfig[] }): PageWallet {
  return {
    name: 'Test Wallet',
    account: privateKeyToAccount(generatePrivateKey()),
    addable: [],
    chainId: details.chains[0]?.chainId ?? 1,
    declines: new Set(),
    faults: new Map(),
    offersAssets: false,
    offersCalls: false,
    before: () => {},
    asked: [],
    sent: [],
    ...details,
  };
}

/** Puts wallets into every page that this context opens from now on: announced by EIP-6963, each with an icon. */
export async function putWallets(context: BrowserContext, wallets: PageWallet[]): Promise<void> {
  const known = wallets.map((wallet) => ({ wallet, connected: false, uuid: randomUUID() }));
  await context.exposeFunction('askTestWallet', async (uuid: string, method: string, params: unknown[]) => {
    const entry = known.find((one) => one.uuid === uuid);
    if (!entry) return { error: { code: -32603, message: 'no such wallet' } };
    entry.wallet.asked.push({ method, params });
    await entry.wallet.before(method);
    try {
      return { result: await answer(entry, method, params), chainId: numberToHex(entry.wallet.chainId) };
    } catch (error) {
      return { error: asProviderError(error) };
    }
  });
  const infos = known.map(({ wallet, uuid }) => {
    const rdns = `test.${wallet.name.toLowerCase().replace(/\W+/g, '-')}`;
    return { uuid, name: wallet.name, rdns, icon: iconOf(wallet.name) };
  });
  await context.addInitScript(announce, infos);
}

/**
 * Makes the wallets of this context like old ones: they are only in `window.ethereum` and announce nothing, until
 * `announceNow` is called in the page.
 *
 * @param name of the property instead of `ethereum`, for a wallet that is not there yet
 */
export function announceNothing(context: BrowserContext, name = 'ethereum'): Promise<unknown> {
  return context.addInitScript((property) => {
    const hide = (event: Event) => {
      Object.assign(window, { [property]: (event as CustomEvent).detail.provider });
      event.stopImmediatePropagation();
    };
    window.addEventListener('eip6963:announceProvider', hide, true);
    window.dispatchEvent(new Event('eip6963:requestProvider'));
    const announceNow = () => {
      window.removeEventListener('eip6963:announceProvider', hide, true);
      window.dispatchEvent(new Event('eip6963:requestProvider'));
    };
    Object.assign(window, { announceNow });
  }, name);
}

type Info = { uuid: string; name: string; rdns: string; icon: string };

/** Runs in the page before its scripts: EIP-1193 providers, announced once unasked and whenever the page asks. */
function announce(infos: Info[]): void {
  type Answer = { result?: unknown; chainId?: string; error?: { code: number; message: string } };
  const { askTestWallet } = window as unknown as {
    askTestWallet(uuid: string, method: string, params: unknown): Promise<Answer>;
  };
  const details = infos.map((info) => {
    const listeners: [event: string, listener: (value: unknown) => void][] = [];
    let chainId: string | undefined;
    const provider = {
      async request({ method, params = [] }: { method: string; params?: unknown }) {
        const answer = await askTestWallet(info.uuid, method, params);
        if (answer.error) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
        const changed = chainId !== undefined && chainId !== answer.chainId;
        chainId = answer.chainId;
        if (changed) for (const [event, listener] of [...listeners]) if (event === 'chainChanged') listener(chainId);
        return answer.result;
      },
      on(event: string, listener: (value: unknown) => void) {
        listeners.push([event, listener]);
        return provider;
      },
      removeListener(event: string, listener: (value: unknown) => void) {
        const at = listeners.findIndex(([name, one]) => name === event && one === listener);
        if (at >= 0) listeners.splice(at, 1);
        return provider;
      },
    };
    return Object.freeze({ info: Object.freeze(info), provider });
  });
  const announceAll = () => {
    for (const detail of details) window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }));
  };
  window.addEventListener('eip6963:requestProvider', announceAll);
  announceAll();
}

/** A square in a colour of its own: wallets supply their icon as a data URL. */
function iconOf(name: string): string {
  const hue = [...name].reduce((sum, letter) => sum + letter.charCodeAt(0) * 7, 0) % 360;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="hsl(${hue} 60% 45%)"/></svg>`;
  return `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
}

class ProviderError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function asProviderError(error: unknown): { code: number; message: string } {
  if (error instanceof ProviderError) return { code: error.code, message: error.message };
  const { shortMessage, message } = error as { shortMessage?: string; message: string };
  return { code: error instanceof RpcError ? -32000 : -32603, message: shortMessage ?? message };
}

type Entry = { wallet: PageWallet; connected: boolean };

async function answer(entry: Entry, method: string, params: unknown[]): Promise<unknown> {
  const { wallet } = entry;
  if (wallet.declines.has(method)) throw new ProviderError(4001, 'User rejected the request.');
  const fault = wallet.faults.get(method);
  if (fault) throw new ProviderError(fault.code, fault.message);
  const address = wallet.account.address.toLowerCase() as Hex;
  const needConnected = () => {
    if (!entry.connected) throw new ProviderError(4100, 'The page was not allowed to use this account.');
  };
  switch (method) {
    case 'eth_requestAccounts':
      entry.connected = true;
      return [address];
    case 'eth_accounts':
      return entry.connected ? [address] : [];
    case 'eth_chainId':
      return numberToHex(wallet.chainId);
    case 'wallet_switchEthereumChain':
      return switchChain(wallet, params);
    case 'wallet_addEthereumChain':
      return addChain(wallet, params);
    case 'personal_sign':
      needConnected();
      return wallet.account.signMessage({ message: { raw: params[0] as Hex } });
    case 'eth_signTypedData_v4':
      needConnected();
      return wallet.account.signTypedData(JSON.parse(params[1] as string));
    case 'eth_sendTransaction':
      needConnected();
      return (await send(wallet, params[0] as Transaction)).hash;
    case 'wallet_getAssets':
      if (!wallet.offersAssets) throw new ProviderError(4200, `The method ${method} is not supported.`);
      needConnected();
      return answerAssets(wallet, params);
    case 'wallet_getCapabilities':
    case 'wallet_sendCalls':
    case 'wallet_getCallsStatus':
      if (!wallet.offersCalls) throw new ProviderError(4200, `The method ${method} is not supported.`);
      needConnected();
      return answerCalls(wallet, method, params);
    default:
      if (!/^eth_(call|getBalance|getTransaction\w+|blockNumber|estimateGas|gasPrice|getCode)$/.test(method)) {
        throw new ProviderError(4200, `The method ${method} is not supported.`);
      }
      return callRpc(urlOf(wallet, wallet.chainId), method, params);
  }
}

function chainNamed(params: unknown[]): number {
  const { chainId } = params[0] as { chainId: Hex };
  if (!/^0x[1-9a-f][0-9a-f]*$/.test(chainId)) throw new ProviderError(-32602, `${chainId} is no chain id.`);
  return Number(chainId);
}

function switchChain(wallet: PageWallet, params: unknown[]): null {
  const chainId = chainNamed(params);
  if (!wallet.chains.some((chain) => chain.chainId === chainId)) {
    throw new ProviderError(4902, `Unrecognized chain ID ${chainId}. Try adding the chain first.`);
  }
  wallet.chainId = chainId;
  return null;
}

/** A wallet that knows a chain after adding it switches to it at once, as common wallets do. */
function addChain(wallet: PageWallet, params: unknown[]): null {
  const chainId = chainNamed(params);
  const { chainName, rpcUrls, nativeCurrency } = params[0] as Record<string, unknown>;
  if (!chainName || !Array.isArray(rpcUrls) || rpcUrls.length === 0 || !nativeCurrency) {
    throw new ProviderError(-32602, 'A chain needs a name, a currency and an endpoint.');
  }
  const chain = wallet.addable.find((one) => one.chainId === chainId);
  if (!chain) throw new ProviderError(-32602, `The endpoint of chain ${chainId} does not answer.`);
  wallet.chains.push(chain);
  wallet.chainId = chainId;
  return null;
}

function urlOf(wallet: PageWallet, chainId: number): string {
  const url = wallet.chains.find((chain) => chain.chainId === chainId)?.rpcUrls[0];
  if (!url) throw new ProviderError(4901, 'The wallet is on a network it cannot reach.');
  return url;
}

type Transaction = { from?: string; to: Hex; data?: Hex; value?: Hex; chainId?: Hex };

/**
 * Signs a transaction and submits it to the wallet's current chain, without waiting until it is mined. Like a wallet it
 * estimates gas first, so a transaction that would fail is not sent: that is how missing funds show.
 */
async function send(wallet: PageWallet, transaction: Transaction, chainId = wallet.chainId): Promise<Sent> {
  const { account } = wallet;
  if (transaction.from && transaction.from.toLowerCase() !== account.address.toLowerCase()) {
    throw new ProviderError(4100, 'The account is not of this wallet.');
  }
  if (transaction.chainId && Number(transaction.chainId) !== chainId) {
    throw new ProviderError(-32602, 'The transaction is for another chain than the wallet is on.');
  }
  const url = urlOf(wallet, chainId);
  const client = createWalletClient({ account, transport: http(url, { retryCount: 0 }) });
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 };
  const chain = { id: chainId, name: String(chainId), nativeCurrency, rpcUrls: { default: { http: [url] } } };
  const value = transaction.value ? hexToBigInt(transaction.value) : 0n;
  const hash = await client.sendTransaction({ chain, to: transaction.to, data: transaction.data, value });
  const sent = { hash, chainId };
  wallet.sent.push(sent);
  return sent;
}

type AssetFilter = Record<string, { address: string }[]>;

async function answerAssets(wallet: PageWallet, params: unknown[]): Promise<unknown> {
  const { account, assetFilter } = params[0] as { account: string; assetFilter: AssetFilter };
  const data = concat(['0x70a08231', padHex(account as Hex)]);
  const known = Object.entries(assetFilter).filter(([id]) =>
    wallet.chains.some(({ chainId }) => chainId === Number(id)),
  );
  const held = known.map(async ([id, assets]) => {
    const told = assets.map(async ({ address }) => {
      const balance = await callRpc(urlOf(wallet, Number(id)), 'eth_call', [{ to: address, data }, 'latest']);
      return { address, balance, type: 'erc20', metadata: {} };
    });
    return [id, await Promise.all(told)];
  });
  return Object.fromEntries(await Promise.all(held));
}

type SendCalls = {
  version: string;
  from: string;
  chainId: Hex;
  atomicRequired: boolean;
  calls: Transaction[];
  capabilities?: { dataSuffix?: { value: Hex } };
};

/** EIP-5792 for an account with a key: each call is a transaction with the suffix at the end of its data. */
async function answerCalls(wallet: PageWallet, method: string, params: unknown[]): Promise<unknown> {
  if (method === 'wallet_getCapabilities') {
    const offered = { atomic: { status: 'unsupported' }, dataSuffix: { supported: true } };
    return Object.fromEntries(wallet.chains.map(({ chainId }) => [numberToHex(chainId), offered]));
  }
  if (method === 'wallet_sendCalls') {
    const { from, chainId, calls, capabilities, version, atomicRequired } = params[0] as SendCalls;
    if (version !== '2.0.0' || typeof atomicRequired !== 'boolean') {
      throw new ProviderError(-32602, 'wallet_sendCalls needs version 2.0.0 and atomicRequired.');
    }
    if (atomicRequired && calls.length > 1) throw new ProviderError(5760, 'Several calls at once are not supported.');
    const suffix = capabilities?.dataSuffix?.value ?? '0x';
    let id = '';
    for (const { to, value, data = '0x' } of calls) {
      id = (await send(wallet, { from, to, value, data: concat([data, suffix]) }, Number(chainId))).hash;
    }
    return { id };
  }
  const sent = wallet.sent.find(({ hash }) => hash === params[0]);
  if (!sent) throw new ProviderError(5730, 'The wallet knows no such calls.');
  const receipt = await callRpc(urlOf(wallet, sent.chainId), 'eth_getTransactionReceipt', [sent.hash]);
  const { status } = (receipt ?? {}) as { status?: string };
  return {
    version: '2.0.0',
    id: sent.hash,
    chainId: numberToHex(sent.chainId),
    atomic: false,
    status: receipt === null ? 100 : status === '0x1' ? 200 : 500,
    receipts: receipt === null ? [] : [receipt],
  };
}
