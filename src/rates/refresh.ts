import type { Actor } from '../audit/actions.ts';
import { audit } from '../audit/write.ts';
import { countCall } from '../auth/calls-per-minute.ts';
import type { Context } from '../context.ts';
import { refuse } from '../errors.ts';
import { minuteMs } from '../lib/durations.ts';
import { currencyCodes } from '../lib/money.ts';
import { onRate } from './audit-object.ts';
import { maxRateAgeMs } from './quote.ts';
import { combineRates, type SourceRate } from './rules.ts';
import type { RateSource } from './source.ts';
import { type CombinedRate, selectLastFetch, upsertRates } from './store.ts';

export type RefreshResult = {
  /** Codes that have a new rate. */
  refreshed: string[];
  /** Codes whose sources disagree: the last rate stays until it is too old. */
  disputed: string[];
  /** Sources that did not answer. */
  failed: { source: string; error: string }[];
};

/** How often to call `refreshIfDue`. */
export const refreshPeriodMs = minuteMs;
/** A rate is valid for 10 minutes. Refreshing at this age lets several attempts fail before anyone notices. */
const refreshAfterMs = 2 * minuteMs;
const timeoutMs = 10_000;
/** Some sources report an error in their own words, of any length. It is logged every two minutes. */
const maxFaultLength = 300;

/**
 * Queries all sources at once and stores what they agree on. A source that fails is ignored; overrides are not touched.
 * Never throws because of a source.
 */
export async function refreshRates(ctx: Context, sources: readonly RateSource[]): Promise<RefreshResult> {
  const startedAt = ctx.clock.now();
  const signal = AbortSignal.timeout(timeoutMs);
  const answers = await Promise.all(sources.map((source) => ask(source, signal)));
  const failed = answers.flatMap((answer) => ('error' in answer ? [answer] : []));
  for (const { source, error } of failed) ctx.log.warn({ source, error }, 'a rate source did not answer');
  const { combined, disputed } = combine(answers.flatMap((answer) => ('rates' in answer ? [answer] : [])));
  const future = new Date(ctx.clock.now().getTime() + maxRateAgeMs);
  if (combined.length > 0) await upsertRates(ctx.db, combined, startedAt, future);
  if (disputed.length > 0) ctx.log.warn({ disputed }, 'rate sources disagree');
  return { refreshed: combined.map(({ code }) => code), disputed, failed };
}

/**
 * One step of the scheduled refresh, to be called every `refreshPeriodMs` on every node. Does nothing while the rates
 * are recent.
 *
 * @returns null when nothing was due
 */
export async function refreshIfDue(ctx: Context, sources: readonly RateSource[]): Promise<RefreshResult | null> {
  const last = await selectLastFetch(ctx.db);
  const ageMs = last ? ctx.clock.now().getTime() - last.getTime() : Number.POSITIVE_INFINITY;
  return Math.abs(ageMs) < refreshAfterMs ? null : refreshRates(ctx, sources);
}

/**
 * Refreshes the rates of all partners now, at one partner's request, and writes it to the audit log.
 *
 * @throws Refusal `rate_limited` at a partner's second call within a calendar minute, over all nodes
 */
export async function manualRefresh(
  ctx: Context,
  actor: Actor,
  sources: readonly RateSource[],
  { id: partnerId, slug }: { id: string; slug: string },
): Promise<RefreshResult> {
  const calls = await countCall(ctx.db.sql, { partnerId, subject: partnerId, action: 'rates.refresh' });
  if (calls > 1) throw refuse('rate_limited');
  // Outside the audit log's transaction, because querying the sources can take seconds.
  const result = await refreshRates(ctx, sources);
  const entry = { ...onRate('all'), action: 'rates.refreshed' as const, details: { partner: slug } };
  await ctx.db.transaction((tx) => audit(ctx, tx, actor, entry));
  return result;
}

type Answer = { source: string; rates: Map<string, string> } | { source: string; error: string };

async function ask(source: RateSource, signal: AbortSignal): Promise<Answer> {
  try {
    return { source: source.name, rates: await source.fetchRates(currencyCodes, signal) };
  } catch (error) {
    const fault = error instanceof Error ? describe(error) : String(error);
    return { source: source.name, error: fault.slice(0, maxFaultLength) };
  }
}

/** The message of `fetch` alone (`fetch failed`) explains nothing; its cause does. */
function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

function combine(answers: readonly { source: string; rates: Map<string, string> }[]) {
  const combined: CombinedRate[] = [];
  const disputed: string[] = [];
  for (const code of currencyCodes) {
    const reported: SourceRate[] = answers.flatMap(({ source, rates }) => {
      const rate = rates.get(code);
      return rate === undefined ? [] : [{ source, rate }];
    });
    const rate = combineRates(reported);
    if (rate !== null) combined.push({ code, rate, sources: reported });
    else if (reported.length > 0) disputed.push(code);
  }
  return { combined, disputed };
}
