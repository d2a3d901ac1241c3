import { forgetSecretKey } from '../db/secret-keys.ts';
import { type Command, word } from './command.ts';

export const secretCommands: Command[] = [
  {
    name: 'secrets forget',
    usage: '<key id>',
    summary:
      'Gives up a key of SECRET_KEYS that is lost, so that the service starts without it: webhook secrets and mails sealed with it stay closed, API keys made with it are unknown.',
    async run(ctx, args) {
      const id = word(args, 0, 'The key’s id');
      const known = await forgetSecretKey(ctx.db.sql, ctx.config.secretKeys, id);
      if (!known) throw new Error(`The database knows no secret key "${id}".`);
      return { forgotten: id };
    },
  },
];
