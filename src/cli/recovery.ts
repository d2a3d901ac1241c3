import { scopeOfMerchant } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { isUuid } from '../lib/ids.ts';
import { cancelRecovery, startRecovery } from '../wallets/recovery.ts';
import { commandLine } from './actor.ts';
import { type Arguments, type Command, word } from './command.ts';

async function recover(ctx: Context, args: Arguments) {
  const id = word(args, 0, 'The account ID').toLowerCase();
  const scope = isUuid(id) ? await scopeOfMerchant(ctx.db, id) : null;
  if (!scope) throw new Error(`There is no merchant "${id}".`);
  if (!args.options.cancel) {
    const { url, until } = await startRecovery(ctx, commandLine, scope, id);
    return { account_id: id, recovery_url: url, open_until: until.toISOString() };
  }
  const cancelled = await cancelRecovery(ctx, commandLine, scope, id);
  if (!cancelled) throw new Error(`No recovery of merchant ${id} is in progress.`);
  return { account_id: id, cancelled: true };
}

export const recoveryCommands: Command[] = [
  {
    name: 'merchant recover',
    usage: '<account_id> [--cancel]',
    summary: 'Starts the recovery of a merchant’s lost wallet and shows the link for the merchant, or cancels it.',
    run: recover,
  },
];
