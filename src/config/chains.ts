import { readFileSync } from 'node:fs';
import { isAddress } from '../lib/ids.ts';
import type { Mode } from '../lib/mode.ts';
import { type Entry, entryOf, isHttp, listOf, type ReportFault, readText, readUrl, refuseUnknown } from './entry.ts';
import { positionOfJsonFault } from './json-fault-position.ts';

export type TokenConfig = {
  symbol: string;
  /** Contract address in lower case. Six decimals and one US dollar, checked at start. */
  address: `0x${string}`;
  /**
   * False: payments in it count, but customers are not offered it. So nodes add and remove it one by one, and likewise
   * a chain of which no token is offered.
   */
  offered?: false;
};

/**
 * When a transfer is final: after this many blocks including its own (`confirmations`, 1 = its block is enough), or by
 * the provider's tag. The first tier whose limit the amount does not exceed applies; the last has no limit.
 */
export type FinalityTier = { upToUsdcMicro: bigint | null } & (
  | { confirmations: number }
  | { tag: 'safe' | 'finalized' }
);

export type ChainConfig = {
  chainId: number;
  name: string;
  /** One or more. All of them must confirm a payment before it is verified. */
  rpcUrls: string[];
  tokens: TokenConfig[];
  finality: FinalityTier[];
  explorerUrl: string | null;
  /** An endpoint that may be revealed to customers' wallets; the others may contain the operator's secrets. */
  publicRpcUrl?: string;
  /** Symbol of the coin that pays fees; ETH by default. */
  coin?: string;
  /**
   * The expected address of the contract of recurring payments (`chain/recurring`). Null: plans are not charged
   * automatically. The service checks the code at this address.
   */
  recurringContract: `0x${string}` | null;
  /** How often the newest block is queried. */
  pollMs: number;
  /** Limits for the cost of sending transactions; absent for the usual ones. */
  relayer?: RelayerLimits;
};

/** Limits of what the relayer spends on one chain, in wei of its coin. */
export type RelayerLimits = {
  /** The highest fee offered per unit of gas. While the chain requires more, nothing is sent. */
  maxFeeWei: bigint;
  /** How much one partner's calls may cost per day and mode. */
  budgetWei: bigint;
  /** Below this balance nothing new is sent, and an alarm is raised. */
  minBalanceWei: bigint;
  /** A transaction that is not mined after this time is sent again with higher fees. */
  resendMs: number;
  /** The smallest payment that the service sends for a customer who only signs: for less, the fee is too high. */
  minPaymentMicro: bigint;
};

const coin = 10n ** 18n;
const usualLimits: RelayerLimits = {
  maxFeeWei: 500n * 10n ** 9n,
  budgetWei: coin / 20n,
  minBalanceWei: coin / 100n,
  resendMs: 30_000,
  minPaymentMicro: 1_000_000n,
};

/** The limits of the relayer on a chain. */
export const limitsOf = ({ relayer }: Pick<ChainConfig, 'relayer'>): RelayerLimits => relayer ?? usualLimits;

/** All faults of a chains file; the message has one per line. */
export class ChainsFault extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** A chain as its file describes it. */
type ListedChain = Omit<ChainConfig, 'recurringContract'>;

/**
 * Reads CHAINS_FILE and RECURRING_CONTRACT.
 *
 * @returns null without a chains file
 */
export function readChainsFile(
  env: NodeJS.ProcessEnv,
  sandbox: boolean,
  faults: string[],
): Record<Mode, ChainConfig[]> | null {
  const recurringContract = readRecurringContract(env.RECURRING_CONTRACT, faults);
  const file = env.CHAINS_FILE;
  if (!file) {
    if (!sandbox)
      faults.push('CHAINS_FILE is required in production: the chains and tokens of each mode (docs/operating.md)');
    return null;
  }
  try {
    return readChains(readFileSync(file, 'utf8'), recurringContract);
  } catch (error) {
    const found = error instanceof ChainsFault ? error.faults : [(error as Error).message];
    faults.push(...found.map((fault) => `CHAINS_FILE ${file}: ${fault}`));
    return null;
  }
}

function readRecurringContract(value: string | undefined, faults: string[]): ChainConfig['recurringContract'] {
  if (!value) return null;
  if (!isAddress(value)) {
    faults.push('RECURRING_CONTRACT must be 0x and 40 hex digits: the address that `quittance contracts show` names');
  }
  return value.toLowerCase() as `0x${string}`;
}

/**
 * Reads a chains file: `{"test": [chain, …], "live": [chain, …]}` with
 * `{"chain_id", "name"?, "rpc_urls", "tokens": [{"symbol", "address", "offered"?}], "finality": [{"up_to_usdc_micro"?,
 * "confirmations" | "tag"}], "explorer_url"?, "public_rpc_url"?, "coin"?, "poll_ms"?, "relayer"?:
 * {"max_fee_gwei"?, "budget_per_day"?, "least_balance"?, "least_payment"?, "resend_s"?}}`.
 *
 * @param recurringContract the contract's address, which is the same on every chain
 * @throws ChainsFault with every fault
 */
export function readChains(
  text: string,
  recurringContract: ChainConfig['recurringContract'],
): Record<Mode, ChainConfig[]> {
  const faults: string[] = [];
  const file = entryOf(parsed(text));
  const report: ReportFault = (fault) => faults.push(fault);
  refuseUnknown(file, ['test', 'live'], 'the file', report);
  const read = (mode: string) => readMode(file, mode, report).map((chain) => ({ ...chain, recurringContract }));
  const chains = { test: read('test'), live: read('live') };
  const ids = allChains(chains)
    .map((chain) => chain.chainId)
    .filter(isChainId);
  if (new Set(ids).size !== ids.length) faults.push('a chain id appears twice; test and live need different chains');
  if (faults.length > 0) throw new ChainsFault(faults);
  return chains;
}

/** The chains of both modes. */
export const allChains = (chains: Record<Mode, ChainConfig[]>): ChainConfig[] => [...chains.test, ...chains.live];

/** What people read of a chain to which CHAINS_FILE gives no name, or which it does not contain any more. */
const unnamed = (chainId: number | string) => `Chain ${chainId}`;

/** The chain with an id, which may be a row's `chain_id`; undefined if CHAINS_FILE lacks it. */
export const findChain = <Chain extends Pick<ChainConfig, 'chainId'>>(
  chains: readonly Chain[],
  chainId: number | string | undefined,
): Chain | undefined => chains.find((chain) => String(chain.chainId) === String(chainId));

/** Whether a chain is configured for test mode. */
export const isTestChain = ({ test }: Record<Mode, ChainConfig[]>, { chainId }: { chainId: number }): boolean =>
  findChain(test, chainId) !== undefined;

/** A chain's name for people, also if the chain was removed from CHAINS_FILE. */
export const nameOfChain = (
  chains: readonly Pick<ChainConfig, 'chainId' | 'name'>[],
  chainId: number | string,
): string => findChain(chains, chainId)?.name ?? unnamed(chainId);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ChainsFault([`it is not valid JSON, ${positionOfJsonFault(error as Error, text)}`]);
  }
}

const isChainId = (id: unknown): id is number => typeof id === 'number' && Number.isSafeInteger(id) && id > 0;

function readMode(file: Entry, mode: string, report: ReportFault): ListedChain[] {
  const list = file[mode];
  if (!Array.isArray(list) || list.length === 0) {
    report(`"${mode}" must list at least one chain`);
    return [];
  }
  const chains = list.map((entry, index) => readChain(entryOf(entry), `${mode} chain ${index + 1}`, report));
  const tokens = chains.flatMap((chain) => chain.tokens);
  if (tokens.length > 0 && tokens.every(({ offered }) => offered === false))
    report(`one token of the ${mode} chains must be offered`);
  return chains;
}

const fieldsOfChain = [
  ...['chain_id', 'name', 'rpc_urls', 'tokens', 'finality', 'explorer_url', 'public_rpc_url', 'coin', 'poll_ms'],
  'relayer',
];
const minPollMs = 50;
const maxPollMs = 60_000;
const usualPollMs = 1_000;

/** Reads a chain and reports its faults. If there are any, the result is not used. */
function readChain(entry: Entry, place: string, report: ReportFault): ListedChain {
  const chainId = entry.chain_id as number;
  if (!isChainId(chainId)) report(`${place}: chain_id must be a number`);
  const fail: ReportFault = (fault) => report(`${isChainId(chainId) ? `chain ${chainId}` : place}: ${fault}`);
  refuseUnknown(entry, fieldsOfChain, 'the chain', fail);
  return {
    chainId,
    name: readText(entry, 'name', fail) ?? unnamed(chainId),
    rpcUrls: readRpcUrls(listOf(entry.rpc_urls), fail),
    tokens: readTokens(listOf(entry.tokens), fail),
    finality: readFinality(listOf(entry.finality), fail),
    explorerUrl: readUrl(entry, 'explorer_url', fail)?.replace(/\/+$/, '') ?? null,
    ...optional('publicRpcUrl', readUrl(entry, 'public_rpc_url', fail)),
    ...optional('coin', readText(entry, 'coin', fail)),
    pollMs: readPollMs(entry.poll_ms, fail),
    ...(entry.relayer === undefined ? {} : { relayer: readLimits(entryOf(entry.relayer), fail) }),
  };
}

const optional = <N extends string>(name: N, value: string | null) =>
  (value === null ? {} : { [name]: value }) as { [K in N]?: string };

function readRpcUrls(list: unknown[], fail: ReportFault): string[] {
  if (list.length === 0) fail('rpc_urls must list at least one address');
  if (!list.every(isHttp)) {
    fail('each of rpc_urls must be an address with http or https');
    return [];
  }
  if (new Set(list.map(endpointOf)).size < list.length)
    fail('rpc_urls lists an address twice; an endpoint cannot confirm itself');
  return list;
}

/** What tells endpoints apart: not a fragment or a slash at the end. */
function endpointOf(url: string): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}${search}`;
}

function readPollMs(value: unknown, fail: ReportFault): number {
  if (value === undefined) return usualPollMs;
  if (Number.isInteger(value) && Number(value) >= minPollMs && Number(value) <= maxPollMs) return Number(value);
  fail(`poll_ms must be a whole number from ${minPollMs} to ${maxPollMs}`);
  return usualPollMs;
}

const fieldsOfLimits = ['max_fee_gwei', 'budget_per_day', 'least_balance', 'least_payment', 'resend_s'];

/** Reads the limits. Amounts are decimal strings: the fee in gwei, the least payment in dollars, the rest in coins. */
function readLimits(entry: Entry, fail: ReportFault): RelayerLimits {
  refuseUnknown(entry, fieldsOfLimits, 'relayer', fail);
  const amount = (name: string, decimals: number, usual: bigint): bigint => {
    const value = entry[name];
    if (value === undefined) return usual;
    const [, whole = '', part = ''] = /^(\d{1,12})(?:\.(\d+))?$/.exec(typeof value === 'string' ? value : '') ?? [];
    const wei = BigInt(`${whole}${part.padEnd(decimals, '0')}` || 0);
    if (whole && part.length <= decimals && wei > 0n) return wei;
    fail(`relayer.${name} must be a decimal string above 0, such as "0.05"`);
    return usual;
  };
  const seconds = entry.resend_s ?? usualLimits.resendMs / 1000;
  if (typeof seconds !== 'number' || !(seconds >= 1 && seconds <= 3600)) {
    fail('relayer.resend_s must be a number of seconds from 1 to 3600');
  }
  return {
    maxFeeWei: amount('max_fee_gwei', 9, usualLimits.maxFeeWei),
    budgetWei: amount('budget_per_day', 18, usualLimits.budgetWei),
    minBalanceWei: amount('least_balance', 18, usualLimits.minBalanceWei),
    minPaymentMicro: amount('least_payment', 6, usualLimits.minPaymentMicro),
    resendMs: Math.round(Number(seconds) * 1000),
  };
}

function readTokens(list: unknown[], fail: ReportFault): TokenConfig[] {
  if (list.length === 0) fail('tokens must list at least one token');
  const tokens = list.map(entryOf).flatMap((entry, index): TokenConfig[] => {
    const { address, symbol, offered = true } = entry;
    refuseUnknown(entry, ['symbol', 'address', 'offered'], `token ${index + 1}`, fail);
    if (typeof offered !== 'boolean') fail(`offered of token ${index + 1} must be true or false`);
    if (isAddress(address) && typeof symbol === 'string' && symbol.trim() !== '')
      return [{ symbol, address: address.toLowerCase() as `0x${string}`, ...(offered === false && { offered }) }];
    fail(`token ${index + 1} needs symbol and address`);
    return [];
  });
  if (new Set(tokens.map(({ address }) => address)).size < tokens.length) fail('tokens lists an address twice');
  return tokens;
}

function readFinality(list: unknown[], fail: ReportFault): FinalityTier[] {
  if (list.length === 0) fail('finality must list at least one tier');
  const tiers = list.map(entryOf).map((entry, index) => readTier(entry, `finality tier ${index + 1}`, fail));
  if (entryOf(list.at(-1)).up_to_usdc_micro !== undefined) fail('the last finality tier must have no up_to_usdc_micro');
  for (const [index, { upToUsdcMicro: limit }] of tiers.slice(0, -1).entries()) {
    const next = tiers[index + 1]?.upToUsdcMicro ?? null;
    if (entryOf(list[index]).up_to_usdc_micro === undefined)
      fail(`finality tier ${index + 1} has no up_to_usdc_micro, so the tiers after it would never apply`);
    else if (limit !== null && next !== null && next <= limit)
      fail(`up_to_usdc_micro of finality tier ${index + 2} must be above that of the tier before it`);
  }
  return tiers;
}

function readTier(tier: Entry, place: string, fail: ReportFault): FinalityTier {
  refuseUnknown(tier, ['up_to_usdc_micro', 'confirmations', 'tag'], place, fail);
  const limit = tier.up_to_usdc_micro;
  const isLimit = /^[1-9]\d{0,29}$/.test(String(limit));
  if (limit !== undefined && !isLimit) fail(`up_to_usdc_micro of ${place} must be a whole number of micro units`);
  const upToUsdcMicro = isLimit ? BigInt(limit as string) : null;
  const confirmations = tier.confirmations as number;
  const isTag = tier.tag === 'safe' || tier.tag === 'finalized';
  if (tier.tag !== undefined && tier.confirmations !== undefined)
    fail(`${place} has both confirmations and tag; it needs one of them`);
  else if (!isTag && !(Number.isInteger(confirmations) && confirmations >= 1))
    fail(`${place} needs confirmations (1 or more) or tag (safe, finalized)`);
  return isTag ? { upToUsdcMicro, tag: tier.tag as 'safe' } : { upToUsdcMicro, confirmations };
}
