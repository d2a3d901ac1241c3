import { forgetSecretKey } from '../db/secret-keys.ts';
import { type Command, word } from './command.ts';

export const secretCommands: Command[] = [
  {
    name: 'secrets forget',
    withAnyKeys: true,
    usage: '<key id>',
    summary:
      'Drops a lost key of SECRET_KEYS, so that the service starts without it. Webhook secrets and e-mails encrypted with it become unreadable, and API keys created with it stop working.',
    async run(ctx, args) {
      const id = word(args, 0, 'The key’s id');
      const known = await forgetSecretKey(ctx.db.sql, ctx.config.secretKeys, id);
      if (!known) throw new Error(`The database has no record of a secret key "${id}".`);
      const next =
        'doctor names the webhook secrets that are unreadable now. Partners need new API keys in place of those created with it.';
      return { forgotten: id, next };
    },
  },
];
