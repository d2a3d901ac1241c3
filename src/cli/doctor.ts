import { misspeltAdvice } from '../config/misspelt.ts';
import { reachOf } from '../config/sandbox.ts';
import type { Context } from '../context.ts';
import { alarmName, alarmSentence } from '../db/alarm-kinds.ts';
import { listAlarms } from '../db/alarms.ts';
import { baseUrlFault } from '../db/base-urls.ts';
import { isConflict } from '../db/conflict.ts';
import { findKeyFaults } from '../db/secret-keys.ts';
import { findUnreadable, type Unreadable } from '../db/unreadable-secrets.ts';
import { modeOf } from '../lib/mode.ts';
import { listRates } from '../rates/list.ts';
import { checkChains } from './chains-check.ts';
import type { Command } from './command.ts';
import { checkContracts } from './contracts.ts';
import { checkDatabase, checkDisk, checkLocks, checkPooler, checkReader } from './database-check.ts';
import { type Finding, replaceSecretAdvice } from './finding.ts';
import { checkRelayer } from './relayer.ts';
import { isWithoutDatabase, reasonOf } from './running.ts';

function checkConfiguration({ config }: Context): Finding[] {
  const reach = config.sandbox ? reachOf(config) : null;
  const sandbox = `This sandbox is reachable by others, since ${reach}. Do not use it for real money.`;
  const isScraped = config.sandbox || config.metrics.port !== null || config.metrics.token !== null;
  return [
    reach === null
      ? { check: 'configuration', state: 'ok', advice: '' }
      : { check: 'configuration', state: 'attention', advice: sandbox },
    ...config.misspelt.map((misspelt): Finding => {
      return { check: misspelt.name, state: 'attention', advice: misspeltAdvice(misspelt) };
    }),
    ...(isScraped
      ? []
      : [
          {
            check: 'metrics',
            state: 'attention' as const,
            advice: '/metrics and the details of /readyz are closed: set METRICS_PORT or METRICS_TOKEN.',
          },
        ]),
  ];
}

const answerLimitMs = 3_000;

/** Checks that the service answers at the address of its links. */
async function checkService({ config }: Context): Promise<Finding[]> {
  const { baseUrl } = config;
  const fault = await fetch(`${baseUrl}/healthz`, { signal: AbortSignal.timeout(answerLimitMs) }).then(
    ({ ok, status }) => (ok ? null : `it answers ${status}`),
    (error: Error) => {
      const { message, code } = (error.cause ?? error) as NodeJS.ErrnoException;
      return message || code; // a name with several addresses has one error for each, and no message
    },
  );
  const advice = `${baseUrl} does not answer from here: ${fault}. Start the service, or set BASE_URL and PORT as it was started with. If it runs, look at its proxy, certificate and name.`;
  return [
    {
      check: `service at ${baseUrl}`,
      state: fault === null ? 'ok' : 'attention',
      advice: fault === null ? '' : advice,
    },
  ];
}

/** Checks that nodes may run under this address: not on a copy of another service's database. */
async function checkBaseUrl({ db, config }: Context): Promise<Finding[]> {
  const fault = await baseUrlFault(db.sql, config.baseUrl);
  return fault === null ? [] : [{ check: 'BASE_URL', state: 'failed', advice: fault }];
}

async function checkRates(ctx: Context): Promise<Finding[]> {
  const rates = await listRates(ctx);
  if (rates.length === 0) {
    return [
      {
        check: 'rates',
        state: 'failed',
        advice: 'There are no rates: check RATE_PROVIDERS and outbound access to them.',
      },
    ];
  }
  const old = rates.filter(({ usable }) => !usable);
  if (old.length === 0) return [{ check: `rates (${rates.length})`, state: 'ok', advice: '' }];
  const advice = `Too old for ${old.map((rate) => rate.code).join(', ')}: run rate refresh, or set one with rate set.`;
  return [{ check: 'rates', state: 'failed', advice }];
}

async function checkWebhooks(ctx: Context): Promise<Finding[]> {
  const rows = await ctx.db.sql<EndpointRow[]>`
    select * from (
      select p.slug, e.test_mode, e.url, e.disabled_reason, e.failures, exists (
        select from webhook_deliveries d
        where d.partner_id = e.partner_id and d.test_mode = e.test_mode and d.state = 'exhausted') as has_exhausted
      from webhook_endpoints e join partners p on p.id = e.partner_id) endpoints
    where disabled_reason is not null or failures > 0 or url is null or has_exhausted limit 100`;
  return rows.map((row) => ({
    check: `webhook of ${row.slug}, ${modeOf(row.test_mode)}`,
    state: 'attention',
    advice: [endpointAdvice(row), row.has_exhausted ? exhaustedAdvice : ''].filter(Boolean).join(' '),
  }));
}

type EndpointRow = {
  slug: string;
  test_mode: boolean;
  url: string | null;
  disabled_reason: string | null;
  failures: number;
  has_exhausted: boolean;
};

const exhaustedAdvice =
  'All attempts of some events are used up; see webhook deliveries --state exhausted. Run webhook replay once the endpoint works.';

function endpointAdvice({ url, disabled_reason, failures }: EndpointRow): string {
  if (disabled_reason) return `Disabled (${disabled_reason}); fix the endpoint, then run webhook enable.`;
  if (!url) return 'No URL is set: events wait until you run webhook set.';
  return failures > 0 ? `${failures} failures in a row; see webhook deliveries.` : '';
}

async function checkAlarms(ctx: Context): Promise<Finding[]> {
  const alarms = await listAlarms(ctx.db.sql, 100);
  return alarms
    .filter(({ cleared_at }) => cleared_at === null)
    .map((alarm) => ({ check: alarmName(alarm), state: 'attention', advice: alarmSentence(alarm) }));
}

async function checkSecrets({ db, config }: Context): Promise<Finding[]> {
  const faults = await findKeyFaults(db.sql, config.secretKeys);
  const unreadable = (await findUnreadable(db.sql, config.secretKeys)).map(unreadableFinding);
  if (faults.length === 0) return [{ check: 'secret keys', state: 'ok', advice: '' }, ...unreadable];
  return [...faults.map((advice): Finding => ({ check: 'secret keys', state: 'failed', advice })), ...unreadable];
}

function unreadableFinding(found: Unreadable): Finding {
  const why = `cannot be decrypted: another key than the present "${found.keyId}" encrypted it, or it was changed`;
  if (found.what === 'mails')
    return {
      check: `queued e-mails (${found.many})`,
      state: 'attention',
      advice: `Each ${why}. They are never sent. Sign-in links and codes can be requested again.`,
    };
  return {
    check: `webhook secret of ${found.slug}, ${found.mode}`,
    state: 'failed',
    advice: `It ${why}. Its events wait. ${replaceSecretAdvice(found.slug, found.mode)}`,
  };
}

const checks: Record<string, (ctx: Context) => Promise<Finding[]>> = {
  service: checkService,
  BASE_URL: checkBaseUrl,
  database: checkDatabase,
  disk: checkDisk,
  locks: checkLocks,
  reader: checkReader,
  pooler: checkPooler,
  'secret keys': checkSecrets,
  chains: checkChains,
  contracts: checkContracts,
  relayer: checkRelayer,
  rates: checkRates,
  webhooks: checkWebhooks,
  alarms: checkAlarms,
};

const foundLocked = 'a session holds a table locked that it needs.';

/**
 * Runs all checks. One that fails stops no other. That the database cannot be used is reported once, with what is
 * unknown because of it.
 */
async function checkAll(ctx: Context): Promise<Finding[]> {
  const unknown = new Set<string>();
  let reason: string | null = null;
  const findings = await Promise.all(
    Object.entries(checks).map(async ([check, find]): Promise<Finding[]> => {
      try {
        return await find(ctx);
      } catch (error) {
        const said = isConflict(error) ? foundLocked : reasonOf(error, ctx.config.databaseUrl !== null);
        if (!isWithoutDatabase(error)) return [{ check, state: 'failed', advice: `It could not be checked: ${said}` }];
        reason ??= said;
        if (check !== 'database') unknown.add(check);
        return [];
      }
    }),
  );
  if (reason === null) return findings.flat();
  const names = Object.keys(checks).filter((check) => unknown.has(check));
  const advice = `${reason} Not checked without it: ${names.join(', ')}, and what waits for chains and the relayer.`;
  return [{ check: 'database', state: 'failed', advice }, ...findings.flat()];
}

/** Checks everything that the service depends on, and says what to do. */
export const doctorCommands: Command[] = [
  {
    name: 'doctor',
    withAnyKeys: true,
    lockS: 1,
    usage: '',
    summary:
      'Checks configuration, service, database and its disk, secret keys, clock, chains, contracts, relayer, rates and webhooks, and says what to do. Exits with 1 when a check failed, otherwise with 0.',
    hasFailed: ({ healthy }) => healthy === false,
    run: async (ctx) => {
      const findings = [...checkConfiguration(ctx), ...(await checkAll(ctx))];
      return { healthy: findings.every(({ state }) => state !== 'failed'), findings };
    },
  },
];
