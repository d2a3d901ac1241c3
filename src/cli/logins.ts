import { statementsFor } from '../db/logins.ts';
import { type Command, option } from './command.ts';

export const loginCommands: Command[] = [
  {
    name: 'logins',
    withAnyKeys: true,
    usage: '--owner <role>',
    summary:
      'Prints the SQL for a database administrator to run where the table owner may not create roles. Contains passwords.',
    run: async (ctx, args) => ({
      statements: statementsFor(
        option(args, 'owner'),
        ctx.config.secretKeys,
        ctx.config.databasePoolMode === 'transaction',
      ).map((run) => ({ run })),
    }),
  },
];
