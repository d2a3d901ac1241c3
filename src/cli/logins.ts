import { statementsFor } from '../db/logins.ts';
import { type Command, option } from './command.ts';

export const loginCommands: Command[] = [
  {
    name: 'logins',
    usage: '--owner <role>',
    summary:
      'Prints what an administrator of the server runs where the owner of the tables may not create roles. Contains passwords.',
    run: async (ctx, args) => ({
      statements: statementsFor(option(args, 'owner'), ctx.config.secretKeys).map((run) => ({ run })),
    }),
  },
];
