import { addBaseUrl, listBaseUrls, removeBaseUrl } from '../db/base-urls.ts';
import { type Arguments, type Command, UsageFault, word } from './command.ts';

/** The address that a command names, without a slash at its end. */
function readOrigin(args: Arguments): string {
  const typed = word(args, 0, 'The address');
  const url = URL.parse(typed);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.href !== `${url.origin}/`)
    throw new UsageFault('The address must be one that BASE_URL can have, such as https://pay.example.com.');
  return url.origin;
}

/** Commands that move the service to another address. */
export const baseUrlCommands: Command[] = [
  {
    name: 'base-url list',
    usage: '',
    summary: 'Lists the addresses under which nodes may run on this database.',
    async run(ctx) {
      const known = await listBaseUrls(ctx.db.sql);
      return { base_urls: known.map(({ origin, added_at }) => ({ origin, added_at: added_at.toISOString() })) };
    },
  },
  {
    name: 'base-url add',
    usage: '<url>',
    summary:
      'Lets nodes start with this BASE_URL, before the service moves there. Do not use it on a copy of a database: nodes there would send the same events, mails and charges as the original.',
    async run(ctx, args) {
      const origin = readOrigin(args);
      await addBaseUrl(ctx.db.sql, ctx.config, origin);
      return { added: origin, next: 'Give the nodes this BASE_URL one by one, then remove the old one.' };
    },
  },
  {
    name: 'base-url remove',
    usage: '<url>',
    summary: 'Stops nodes from starting with this BASE_URL, once the service has moved away from it.',
    async run(ctx, args) {
      const origin = readOrigin(args);
      if (!(await removeBaseUrl(ctx.db.sql, origin)))
        throw new Error(`${origin} is not among several addresses: base-url list shows them. The only one stays.`);
      return { removed: origin };
    },
  },
];
