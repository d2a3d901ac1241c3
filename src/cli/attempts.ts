import type { Context } from '../context.ts';
import { parseInstant } from '../lib/time.ts';
import { detachBefore, listPartitions } from '../webhooks/attempt-partitions.ts';
import { asOwner } from './backup.ts';
import { type Arguments, type Command, option, UsageFault } from './command.ts';

const list: Command = {
  name: 'attempts list',
  usage: '',
  summary: 'Lists the monthly partitions of the table of delivery attempts, with their sizes.',
  run: (ctx) =>
    asOwner(ctx, async (owner) => ({
      partitions: (await listPartitions(owner)).map(({ name, until, bytes, pending }) => ({
        ...{ name, until: until.toISOString(), bytes },
        ...(pending && { state: 'half detached' }),
      })),
    })),
};

async function detach(ctx: Context, args: Arguments): Promise<Record<string, unknown>> {
  const before = parseInstant(option(args, 'before'));
  if (!before) throw new UsageFault('--before must be a time or a day like 2026-01-01.');
  return asOwner(ctx, async (owner) => ({
    detached: await detachBefore(owner, before, args.options.drop !== undefined),
  }));
}

export const attemptCommands: Command[] = [
  list,
  {
    name: 'attempts detach',
    usage: '--before <time> [--drop]',
    summary:
      'Detaches the partitions of months that ended before this time, while the service is running. Each becomes a separate table; --drop deletes it instead.',
    run: detach,
  },
];
