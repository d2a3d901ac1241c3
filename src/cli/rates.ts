import { Refusal } from '../errors.ts';
import { parseInstant } from '../lib/time.ts';
import { listRates } from '../rates/list.ts';
import { clearOverride, setOverride } from '../rates/override.ts';
import { rateSources } from '../rates/providers.ts';
import { manualRefresh } from '../rates/refresh.ts';
import { commandLine, mustReadPartner } from './actor.ts';
import { type Command, option, optionalOption, word } from './command.ts';

export const rateCommands: Command[] = [
  {
    name: 'rate set',
    usage: '<CODE> <fiat per stablecoin> [--until <time>] [--deviates <percent>]',
    summary:
      'Sets a rate that applies until it is cleared or until the given time. A rate far from the sources must be confirmed with --deviates.',
    async run(ctx, args) {
      const code = word(args, 0, 'The currency code');
      const rate = word(args, 1, 'The rate (fiat units per stablecoin)');
      const until = args.options.until === undefined ? null : parseInstant(option(args, 'until'));
      if (args.options.until !== undefined && until === null)
        throw new Error('--until must be a time like 2027-01-31T12:00:00Z.');
      const end = until?.toISOString() ?? null;
      const shownDeviation = optionalOption(args, 'deviates');
      await setOverride(ctx, commandLine, { code, rate, until, shownDeviation });
      return { code, rate, override: true, until: end };
    },
  },
  {
    name: 'rate clear',
    usage: '<CODE>',
    summary: 'Clears a set rate, so that the sources apply again.',
    async run(ctx, args) {
      const code = word(args, 0, 'The currency code');
      const cleared = await clearOverride(ctx, commandLine, code);
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
    summary: 'Refreshes all rates now; at most once a minute per partner. Exits with 1 when no source had a rate.',
    hasFailed: ({ refreshed }) => (refreshed as string[]).length === 0,
    async run(ctx, args) {
      const slug = option(args, 'partner');
      const partner = await mustReadPartner(ctx, slug);
      try {
        return await manualRefresh(ctx, commandLine, rateSources(ctx.config.rateProviders), partner);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        throw new Error(`Rates were already refreshed for "${slug}" within the last minute; try again in a minute.`);
      }
    },
  },
];
