import { writeAudit } from '../audit/write.ts';
import { Refusal } from '../errors.ts';
import { parseInstant } from '../lib/time.ts';
import { listRates } from '../rates/list.ts';
import { clearOverride, setOverride } from '../rates/override.ts';
import { rateSources } from '../rates/providers.ts';
import { manualRefresh } from '../rates/refresh.ts';
import { commandLine, mustReadPartner, recorded } from './acting.ts';
import { type Command, option, word } from './command.ts';

/** A rate holds for all partners. */
const onRate = (code: string) => ({ partnerId: null, testMode: null, object: { kind: 'rate' as const, id: code } });

export const rateCommands: Command[] = [
  {
    name: 'rate set',
    usage: '<CODE> <fiat per stablecoin> [--until <time>] [--deviates <percent>]',
    summary:
      'Sets a rate that stays in force until it is cleared or until the given time. A rate far from the sources must be confirmed with --deviates.',
    async run(ctx, args) {
      const code = word(args, 0, 'The currency code');
      const rate = word(args, 1, 'The rate (fiat units per stablecoin)');
      const until = args.options.until === undefined ? null : parseInstant(option(args, 'until'));
      if (args.options.until !== undefined && until === null)
        throw new Error('Give --until like 2027-01-31T12:00:00Z.');
      const end = until?.toISOString() ?? null;
      const shownDeviation = args.options.deviates === undefined ? null : option(args, 'deviates');
      await recorded(
        ctx,
        (inner) => setOverride(inner, { code, rate, until, shownDeviation }),
        () => ({ ...onRate(code), action: 'rate.set', details: { rate, until: end } }),
      );
      return { code, rate, override: true, until: end };
    },
  },
  {
    name: 'rate clear',
    usage: '<CODE>',
    summary: 'Returns to the rate of the sources.',
    async run(ctx, args) {
      const code = word(args, 0, 'The currency code');
      const cleared = await recorded(
        ctx,
        (inner) => clearOverride(inner.db, code),
        (done) => (done ? { ...onRate(code), action: 'rate.cleared', details: {} } : null),
      );
      if (!cleared) throw new Error(`No rate was set for ${code}; there is nothing to clear.`);
      return { code, override: false };
    },
  },
  {
    name: 'rate list',
    usage: '',
    summary: 'Shows every rate, its sources, and whether it is fresh enough to be used.',
    async run(ctx) {
      return { rates: await listRates(ctx) };
    },
  },
  {
    name: 'rate refresh',
    usage: '--partner <slug>',
    summary: 'Fetches all rates now; at most once a minute per partner.',
    async run(ctx, args) {
      const slug = option(args, 'partner');
      const partner = await mustReadPartner(ctx, slug);
      try {
        const result = await manualRefresh(ctx, rateSources(ctx.config.rateProviders), partner.id);
        const told = { ...onRate('all'), action: 'rates.refreshed' as const, details: { partner: slug } };
        await ctx.db.transaction((tx) => writeAudit(ctx, tx, commandLine, told));
        return result;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new Error(`Rates were already refreshed for "${slug}" in this minute; try again in the next one.`);
      }
    },
  },
];
