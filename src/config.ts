import { dataDirOf } from './config/address.ts';
import { type ChainConfig, readChainsFile } from './config/chains.ts';
import { type PoolMode, readDatabaseUrl, readPoolMode } from './config/database.ts';
import { readMail } from './config/mail.ts';
import { type MetricsConfig, readMetrics } from './config/metrics.ts';
import { encodingFaults, findMisspelt, type Misspelt, misspeltAdvice } from './config/misspelt.ts';
import { readList, readNetworks } from './config/networks.ts';
import { type RelayerConfig, type RelayerSigner, readDeployer, readRelayer } from './config/relayer.ts';
import { decideSandbox } from './config/sandbox.ts';
import { readSecretKeys } from './config/secret-keys.ts';
import { readTracing, type TracingConfig } from './config/tracing.ts';
import type { SecretKey } from './lib/encrypt.ts';
import type { Mode } from './lib/mode.ts';
import { loopback, namesThisMachine } from './lib/networks.ts';

/** The server that sends e-mails, and their sender. */
export type MailConfig = {
  /** `smtp://` (STARTTLS if offered, and required for a password) or `smtps://`. Contains a password: never log it. */
  smtpUrl: string;
  /** An address, or `Name <address>`. */
  from: string;
};

/** The operator's own service that sends messages to phones. */
export type PhoneGateway = {
  url: string;
  /** Sent as a bearer token: never log it. */
  token: string;
};

/** The WalletConnect project and relay through which customers' wallets connect. */
export type WalletConnectConfig = {
  projectId: string;
  relayUrl: string;
};

export type Config = {
  /** Demo data, local chains, fixed rates, http webhook URLs: if only this machine is served, or with `SANDBOX=on`. */
  sandbox: boolean;
  /** Networks whose clients may open the sandbox's `/dev` pages, besides this machine. */
  devAllowCidrs: string[];
  host: string;
  port: number;
  /** Public address of the API, without a slash at the end. */
  baseUrl: string;
  /** Public address of pay pages, without a slash at the end. */
  payUrl: string;
  dataDir: string;
  /** Null: the embedded database in the data folder. */
  databaseUrl: string | null;
  /** For the tables' owner, who migrates and creates the logins. Null: `databaseUrl`. Contains a password. */
  databaseOwnerUrl: string | null;
  /** With `transaction`, connections that need their own session use `databaseOwnerUrl`. */
  databasePoolMode: PoolMode;
  /** A standby of the same database, or a proxy to standbys, for lists, exports and searches. */
  databaseReadUrl: string | null;
  /** The first key encrypts and hashes. The others only decrypt, and recognise hashes that they once made. */
  secretKeys: SecretKey[];
  /** Null in a sandbox without CHAINS_FILE: its local chains are known once they run. */
  chains: Record<Mode, ChainConfig[]> | null;
  rateProviders: string[];
  /** The pause before each webhook attempt, including the first. */
  webhookScheduleMs: number[];
  /** Networks that webhooks may reach even if they are private. */
  webhookAllowCidrs: string[];
  /** Addresses and networks of reverse proxies, whose X-Forwarded-For is trusted. */
  trustProxy: string[];
  /** Null: the sandbox shows its mails at /dev/mail; in production they wait, and an alarm says so. */
  mail: MailConfig | null;
  /** Null: no receipts are sent to phones. */
  phoneGateway: PhoneGateway | null;
  /** Null: pay pages do not offer WalletConnect. */
  walletConnect: WalletConnectConfig | null;
  /** The age at which customers' personal data is erased from requests; null: only on demand. */
  eraseCustomersAfterDays: number | null;
  /** Whether browsers are told over https to use https only, for a year. */
  hsts: boolean;
  /** How long connections are still accepted after the signal to stop, until load balancers have noticed. */
  drainSeconds: number;
  /** How many pages one client may open in ten seconds, without a session or with each of its sessions. */
  pageLimit: number;
  metrics: MetricsConfig;
  /** Null: nothing is traced, and no tracing code is loaded. */
  tracing: TracingConfig | null;
  /** The signers that send the service's transactions and pay their fees. */
  relayer: RelayerConfig;
  /** Pays for `contracts deploy`; null: the relayer does. */
  deployer: RelayerSigner | null;
  logLevel: string;
  /** Names in the environment that are close to a setting, and ignored. */
  misspelt: Misspelt[];
};

/** All faults of the environment; the message has one per line. */
export class ConfigError extends Error {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(`The configuration is invalid:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const hour = 3600;
const defaultScheduleSeconds = [
  0,
  5,
  30,
  120,
  600,
  1800,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** The sources that `rates/` knows; `fixed` is the sandbox's, which needs no network. */
const rateProviderNames = ['fixed', 'coinbase', 'kraken', 'coingecko', 'bitstamp'];

/**
 * Reads all settings. No other code reads the environment.
 *
 * @throws ConfigError naming every fault
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const env = trimmed(environment);
  const faults = encodingFaults(env);
  const port = readPort(env.PORT, faults);
  const host = env.HOST || '127.0.0.1';
  const dataDir = dataDirOf(env);
  const baseUrl = readUrl('BASE_URL', env.BASE_URL, `http://localhost:${port}`, faults);
  if ((URL.parse(baseUrl)?.pathname ?? '/') !== '/')
    faults.push('BASE_URL must have no path: pages link from its root');
  const payUrl = readUrl('PAY_URL', env.PAY_URL, `${baseUrl}/pay`, faults);
  const sandbox = decideSandbox(env, { host, baseUrl, payUrl }, faults);
  if (!sandbox && !env.BASE_URL) faults.push('BASE_URL is required in production: the public address of the service');
  readSwitch('DATABASE_TLS', env.DATABASE_TLS, faults);
  const secretKeys = readSecretKeys(env.SECRET_KEYS, sandbox, dataDir, faults);
  const config: Config = {
    sandbox,
    devAllowCidrs: readNetworks('DEV_ALLOW_CIDRS', env, [], 1, faults),
    host,
    port,
    baseUrl,
    payUrl,
    dataDir,
    databaseUrl: readDatabaseUrl('DATABASE_URL', env, faults),
    databaseOwnerUrl: readDatabaseUrl('DATABASE_OWNER_URL', env, faults),
    databasePoolMode: readPoolMode(env, faults),
    databaseReadUrl: readDatabaseUrl('DATABASE_READ_URL', env, faults),
    secretKeys,
    chains: readChainsFile(env, sandbox, faults),
    rateProviders: readRateProviders(env.RATE_PROVIDERS, { sandbox, baseUrl }, faults),
    webhookScheduleMs: readSchedule(env.WEBHOOK_SCHEDULE_SECONDS, faults),
    webhookAllowCidrs: readNetworks('WEBHOOK_ALLOW_CIDRS', env, sandbox ? [...loopback] : [], 0, faults),
    trustProxy: readNetworks('TRUST_PROXY', env, [], 1, faults),
    mail: readMail(env.SMTP_URL, env.MAIL_FROM, faults),
    phoneGateway: readPhoneGateway(env.PHONE_GATEWAY_URL, env.PHONE_GATEWAY_TOKEN, sandbox, faults),
    walletConnect: readWalletConnect(env.WALLETCONNECT_PROJECT_ID, env.WALLETCONNECT_RELAY_URL, sandbox, faults),
    eraseCustomersAfterDays: readEraseAfter(env.ERASE_CUSTOMER_DATA_AFTER_DAYS, faults),
    hsts: readSwitch('HSTS', env.HSTS, faults),
    drainSeconds: readDrain(env.DRAIN_SECONDS, sandbox, faults),
    pageLimit: readPageLimit(env.PAGE_LIMIT, faults),
    metrics: readMetrics(env, port, faults),
    tracing: readTracing(env, faults),
    relayer: readRelayer(env, { sandbox, derived: sandbox && !env.CHAINS_FILE, secretKeys }, faults),
    deployer: readDeployer(env.DEPLOYER_KEY, faults),
    logLevel: env.LOG_LEVEL || (sandbox ? 'warn' : 'info'),
    misspelt: findMisspelt(env),
  };
  if (config.databaseReadUrl && !config.databaseUrl) {
    faults.push('DATABASE_READ_URL needs DATABASE_URL: a standby of the database to which the service connects');
  }
  if (config.databaseOwnerUrl && !config.databaseUrl) {
    faults.push(
      'DATABASE_OWNER_URL needs DATABASE_URL: the address of the same database to which the service connects',
    );
  }
  if (!logLevels.includes(config.logLevel)) faults.push(`LOG_LEVEL must be one of ${logLevels.join(', ')}`);
  if (faults.length > 0) throw new ConfigError([...faults, ...config.misspelt.map(misspeltAdvice)]);
  return config;
}

/** Files of settings leave blanks and carriage returns at the end of values, where nobody sees them. */
const trimmed = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value?.trim()]));

/** Reads the names of the sources. A source that is named twice would confirm itself. */
function readRateProviders(
  value: string | undefined,
  { sandbox, baseUrl }: Pick<Config, 'sandbox' | 'baseUrl'>,
  faults: string[],
): string[] {
  if (!value) return sandbox ? ['fixed'] : rateProviderNames.slice(1);
  const names = readList(value, []);
  for (const name of names) {
    if (!rateProviderNames.includes(name)) {
      faults.push(`RATE_PROVIDERS names "${name}"; the known sources are ${rateProviderNames.join(', ')}`);
    }
  }
  // At an address of this machine nobody pays: tests run in production's way there, without the network.
  if (names.includes('fixed') && !sandbox && !namesThisMachine(URL.parse(baseUrl)?.hostname ?? ''))
    faults.push('RATE_PROVIDERS names "fixed", whose rates never change: it is for the sandbox only');
  if (names.length === 0 || new Set(names).size < names.length)
    faults.push('RATE_PROVIDERS must name at least one source, and each once');
  return names;
}

/** Reads a setting that is on by default. */
function readSwitch(name: string, value: string | undefined, faults: string[]): boolean {
  if (value && !['on', 'off'].includes(value)) faults.push(`${name} must be on or off`);
  return value !== 'off';
}

/** Reads the port. 0 for any free port is refused: URLs in responses contain the port, and commands read it too. */
function readPort(value: string | undefined, faults: string[]): number {
  const port = Number(value || 3000);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) faults.push('PORT must be a whole number from 1 to 65535');
  return port;
}

/** Whether an address has a user or a password, which everybody who gets it would read. `fetch` refuses it too. */
const hasUser = (url: URL): boolean => url.username !== '' || url.password !== '';

function readUrl(name: string, value: string | undefined, fallback: string, faults: string[]): string {
  if (!value) return fallback; // made from other settings, whose faults are reported there
  const url = URL.parse(value);
  if (!url || !['http:', 'https:'].includes(url.protocol) || hasUser(url) || url.search || url.hash) {
    faults.push(`${name} must be an http or https address without user, password and query`);
  }
  return value.replace(/\/+$/, '');
}

function readPhoneGateway(
  address: string | undefined,
  token: string | undefined,
  sandbox: boolean,
  faults: string[],
): PhoneGateway | null {
  if (!address) return null;
  const url = URL.parse(address);
  const isSecret =
    url?.protocol === 'https:' || (url?.protocol === 'http:' && (sandbox || namesThisMachine(url.hostname)));
  if (!url || !isSecret || hasUser(url) || url.hash) {
    faults.push(
      'PHONE_GATEWAY_URL must be an https address without user and password (http on this machine, or in the sandbox)',
    );
  }
  if (!token || !/^[\x21-\x7e]+$/.test(token)) {
    faults.push('PHONE_GATEWAY_TOKEN is required with PHONE_GATEWAY_URL: printable characters without spaces');
  }
  return { url: address, token: token ?? '' };
}

function readWalletConnect(
  projectId: string | undefined,
  relay: string | undefined,
  sandbox: boolean,
  faults: string[],
): WalletConnectConfig | null {
  if (!projectId) {
    if (relay) faults.push('WALLETCONNECT_RELAY_URL needs WALLETCONNECT_PROJECT_ID');
    return null;
  }
  if (!/^[0-9a-f]{32}$/i.test(projectId)) faults.push('WALLETCONNECT_PROJECT_ID must be 32 hex digits');
  const relayUrl = relay || 'wss://relay.walletconnect.com';
  const url = URL.parse(relayUrl);
  if (!url || !(url.protocol === 'wss:' || (url.protocol === 'ws:' && sandbox)) || url.search || url.hash) {
    faults.push('WALLETCONNECT_RELAY_URL must be a wss address without query (ws in the sandbox)');
  }
  return { projectId, relayUrl };
}

/** Twenty a second, because all tills and guests of a shop can share an address. */
const usualPageLimit = 200;

function readPageLimit(value: string | undefined, faults: string[]): number {
  if (value === undefined || value === '') return usualPageLimit;
  if (!/^[1-9]\d{1,5}$/.test(value))
    faults.push('PAGE_LIMIT must be a whole number from 10 to 999999: pages per client in 10 s');
  return Number(value);
}

/** Load balancers commonly probe every 2 s and remove a node after two failures. A sandbox has no load balancer. */
const usualDrainSeconds = 5;

function readDrain(value: string | undefined, sandbox: boolean, faults: string[]): number {
  if (!value) return sandbox ? 0 : usualDrainSeconds;
  if (!/^\d+$/.test(value) || Number(value) > 15) faults.push('DRAIN_SECONDS must be a whole number from 0 to 15');
  return Number(value);
}

/** Requests can be paid for 30 days, and need their customers' data until then. */
const minEraseDays = 31;

function readEraseAfter(value: string | undefined, faults: string[]): number | null {
  if (!value) return null;
  const days = Number(value);
  if (!Number.isInteger(days) || days < minEraseDays || days > 36_500) {
    faults.push(
      `ERASE_CUSTOMER_DATA_AFTER_DAYS must be a whole number from ${minEraseDays}: requests can be paid for 30 days`,
    );
  }
  return days;
}

function readSchedule(value: string | undefined, faults: string[]): number[] {
  const seconds = value ? readList(value, []).map(Number) : defaultScheduleSeconds;
  if (
    seconds.length === 0 ||
    seconds.length > 50 ||
    seconds.some((wait) => !Number.isFinite(wait) || wait < 0 || wait > 30 * 24 * hour)
  ) {
    faults.push('WEBHOOK_SCHEDULE_SECONDS must be 1 to 50 numbers of seconds, separated by commas');
  }
  return seconds.map((wait) => Math.round(wait * 1000));
}
