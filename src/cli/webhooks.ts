import { scopeOfDelivery, scopeOfPartner } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { isUuid } from '../lib/ids.ts';
import { modeOf } from '../lib/mode.ts';
import { parseInstant } from '../lib/time.ts';
import { type DeliveryState, type LoggedDelivery, listDeliveries } from '../webhooks/delivery-log.ts';
import { activateSecret, enableEndpoint, readEndpoint, rotateSecret, setUrl } from '../webhooks/endpoint.ts';
import { readDeliveryHealth } from '../webhooks/health.ts';
import type { DeliveryHealth } from '../webhooks/health-store.ts';
import { replayAllSince, replayDelivery } from '../webhooks/replay.ts';
import { commandLine, unknownPartner } from './actor.ts';
import { type Arguments, type Command, numberOption, option, testModeOption, UsageFault, word } from './command.ts';
import { replaceSecretAdvice } from './finding.ts';
import { listen } from './listen.ts';

const where = '--partner <slug> --mode test|live';

/** The scope that `--partner` and `--mode` name. */
async function scopeOption(ctx: Context, args: Arguments): Promise<Scope> {
  const slug = option(args, 'partner');
  const scope = await scopeOfPartner(ctx.db, slug, testModeOption(args));
  if (!scope) throw unknownPartner(slug);
  return scope;
}

/** The URL is set all the same: events wait for a secret instead of going to the old URL. */
const unreadable = (args: Arguments, { testMode }: Scope): string =>
  `The URL is set, but no key in SECRET_KEYS decrypts the stored secret, so no event can be signed. ${replaceSecretAdvice(option(args, 'partner'), modeOf(testMode))}`;

const set: Command = {
  name: 'webhook set',
  usage: `${where} --url URL`,
  summary: 'Sets where events go, and prints the signing secret: the existing one, or a new one.',
  run: async (ctx, args) => {
    const scope = await scopeOption(ctx, args);
    const { secret } = await setUrl(ctx, commandLine, scope, option(args, 'url'));
    return secret === null ? { secret, advice: unreadable(args, scope) } : { secret };
  },
};

const rotate: Command = {
  name: 'webhook rotate',
  usage: `${where} [--replace]`,
  summary:
    'Creates a new signing secret. Events are signed with it once it is activated, at the latest after 24 hours. --replace also replaces a pending secret, which is then never used.',
  run: async (ctx, args) => {
    const scope = await scopeOption(ctx, args);
    const replaces = args.options.replace ? ((await readEndpoint(ctx, scope))?.pendingSince ?? null) : null;
    return { secret: await rotateSecret(ctx, commandLine, scope, { formKey: null, replaces }) };
  },
};

const activate: Command = {
  name: 'webhook activate',
  usage: where,
  summary: 'Activates the pending signing secret.',
  run: async (ctx, args) => {
    const scope = await scopeOption(ctx, args);
    await activateSecret(ctx, commandLine, scope);
    return { activated: true };
  },
};

const enable: Command = {
  name: 'webhook enable',
  usage: where,
  summary: 'Enables a disabled endpoint; waiting events are sent.',
  run: async (ctx, args) => {
    const scope = await scopeOption(ctx, args);
    await enableEndpoint(ctx, commandLine, scope);
    return { enabled: true };
  },
};

/** Why waiting events have no next attempt; null if they have one. */
function whyHeld({ url, disabled_at }: DeliveryHealth): string | null {
  if (url === null) return 'No webhook URL is set. Events wait until there is one: see `webhook set`.';
  return disabled_at && 'The endpoint is disabled. Events wait until it is enabled: see `webhook enable`.';
}

const deliveries: Command = {
  name: 'webhook deliveries',
  usage: `${where} [--state waiting|delivered|exhausted] [--limit 50] [--offset 0]`,
  summary: 'Lists events, newest first. --json adds every delivery attempt.',
  leftToJson: ['log'],
  run: async (ctx, args) => {
    const scope = await scopeOption(ctx, args);
    const page = await listDeliveries(ctx, scope, {
      ...stateOption(args),
      limit: numberOption(args, 'limit', { min: 1, max: 100, fallback: 50 }),
      offset: numberOption(args, 'offset', { min: 0, max: 1_000_000, fallback: 0 }),
    });
    const held = whyHeld(await readDeliveryHealth(ctx, scope));
    return {
      deliveries: page.deliveries.map((delivery) => shown(delivery, held === null)),
      has_more: page.hasMore,
      ...(held !== null && page.deliveries.some(({ state }) => state === 'waiting') ? { advice: held } : {}),
    };
  },
};

const replay: Command = {
  name: 'webhook replay',
  usage: `<delivery_id>  |  ${where} --since <time>`,
  summary: 'Resends an event with the same ID and body, or every event that failed since a time.',
  run: async (ctx, args) => {
    if (['partner', 'mode', 'since'].some((name) => args.options[name] !== undefined)) {
      if (args.words.length > 0) throw new UsageFault('Give either a delivery ID, or --partner, --mode and --since.');
      const since = parseInstant(option(args, 'since'));
      if (!since) throw new UsageFault('--since must be a time like 2026-01-31T12:00:00Z.');
      const scope = await scopeOption(ctx, args);
      const report = (many: number) => process.stderr.write(`${many} so far …\n`);
      return { replayed: await replayAllSince(ctx, commandLine, scope, { since, report }) };
    }
    const id = word(args, 0, 'The delivery ID');
    const scope = isUuid(id) ? await scopeOfDelivery(ctx.db, id) : null;
    if (!scope) throw new Error(`There is no delivery "${id}".`);
    await replayDelivery(ctx, commandLine, scope, id);
    return { replayed: [id] };
  },
};

const listenCommand: Command = {
  name: 'listen',
  usage: `${where} [--count N]`,
  summary:
    'Receives events here instead of at the webhook URL, verifies each signature and prints them, until Ctrl-C or until N have arrived.',
  run: async (ctx, args) =>
    listen(ctx, await scopeOption(ctx, args), {
      count: numberOption(args, 'count', { min: 1, fallback: Number.POSITIVE_INFINITY }),
      json: args.options.json !== undefined,
      print: (line) => process.stdout.write(`${line}\n`),
      note: (line) => process.stderr.write(`${line}\n`),
    }),
};

export const webhookCommands: Command[] = [set, rotate, activate, enable, deliveries, replay, listenCommand];

function stateOption(args: Arguments): { state?: DeliveryState } {
  const { state } = args.options;
  if (state === undefined) return {};
  if (state === 'waiting' || state === 'delivered' || state === 'exhausted') return { state };
  throw new UsageFault('--state must be waiting, delivered or exhausted.');
}

/** @param sends whether the endpoint takes events */
function shown(delivery: LoggedDelivery, sends: boolean) {
  const { id, request_id, event, state, attempts, next_attempt_at, created_at, delivered_at, log } = delivery;
  const last = log.at(-1);
  return {
    delivery_id: id,
    request_id,
    event,
    state,
    attempts,
    next_attempt_at: sends && state === 'waiting' ? next_attempt_at.toISOString() : null,
    created_at: created_at.toISOString(),
    delivered_at: delivered_at?.toISOString() ?? null,
    last_answer: last?.status_code ?? last?.error ?? null,
    log: log.map((attempt) => ({
      started_at: attempt.started_at.toISOString(),
      url: attempt.url,
      status_code: attempt.status_code,
      error: attempt.error,
      duration_ms: attempt.duration_ms,
      response_body: attempt.response_body,
    })),
  };
}
