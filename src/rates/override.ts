import type { Actor } from '../audit/actions.ts';
import { withAudit } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { currencyExponent, parseDecimal } from '../lib/money.ts';
import { onRate } from './audit-object.ts';
import { RateRefusal } from './refusal.ts';
import { deviationOf, isAcceptedDeviation } from './rules.ts';
import { deleteOverride, selectSourcesRate, upsertOverride } from './store.ts';

export type Override = {
  code: string;
  /** Fiat units per one stablecoin. */
  rate: string;
  /** When it ends automatically; null: when it is cleared. */
  until: Date | null;
  /** The deviation from the sources that the operator was shown, in whole percent with its sign; null if none was. */
  shownDeviation: string | null;
};

/**
 * Sets a currency's rate. It does not age, and no refresh replaces it. Once it is cleared or ends, the sources' rate
 * applies again. A rate more than 5 % away from the sources' latest is refused unless the operator was shown that
 * deviation.
 *
 * @throws RateRefusal currency_unknown, rate_malformed, end_past, deviates
 */
export async function setOverride(
  ctx: Pick<Context, 'db' | 'clock'>,
  actor: Actor,
  { code, rate, until, shownDeviation }: Override,
): Promise<void> {
  refuseUnknown(code);
  const parsed = parseDecimal(rate);
  if (!parsed || parsed.units === 0n) {
    const message = `"${rate}" is not a rate: give fiat units per stablecoin as a positive decimal, like 0.92.`;
    throw new RateRefusal('rate_malformed', message);
  }
  if (until !== null && until <= ctx.clock.now()) throw new RateRefusal('end_past', 'The end must be in the future.');
  const sourcesRate = await selectSourcesRate(ctx.db, code);
  const deviation = sourcesRate === null ? null : deviationOf(rate, sourcesRate);
  if (sourcesRate !== null && deviation !== null && !isAcceptedDeviation(deviation, shownDeviation)) {
    const far = `${deviation < 0n ? -deviation : deviation} % ${deviation < 0n ? 'below' : 'above'}`;
    const message = `${rate} is ${far} the sources’ rate (${sourcesRate}). To set it anyway, add --deviates ${deviation}.`;
    throw new RateRefusal('deviates', message, { percent: `${deviation}`, sourcesRate });
  }
  await withAudit(
    ctx,
    actor,
    ({ db }) => upsertOverride(db, code, rate, until),
    () => ({ ...onRate(code), action: 'rate.set', details: { rate, until: until?.toISOString() ?? null } }),
  );
}

/**
 * Ends an override, so that the sources' rate applies again.
 *
 * @returns false if no override was in force
 * @throws RateRefusal currency_unknown
 */
export async function clearOverride(ctx: Pick<Context, 'db' | 'clock'>, actor: Actor, code: string): Promise<boolean> {
  refuseUnknown(code);
  return withAudit(
    ctx,
    actor,
    ({ db }) => deleteOverride(db, code),
    (done) => (done ? { ...onRate(code), action: 'rate.cleared', details: {} } : null),
  );
}

function refuseUnknown(code: string): void {
  if (currencyExponent(code) === null) {
    const message = `"${code}" is not a currency: give an ISO 4217 code in upper case, like EUR.`;
    throw new RateRefusal('currency_unknown', message);
  }
}
