import { isRole, roles } from '../auth/roles.ts';
import { scopeOf } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { wordsOf } from '../ui/language.ts';
import { inviteUser } from '../users/invite.ts';
import { removePasskeysOf } from '../users/passkeys/passkeys.ts';
import type { User } from '../users/read.ts';
import { commandLine, mustReadPartner } from './actor.ts';
import { type Arguments, type Command, option, UsageFault } from './command.ts';

async function invite(ctx: Context, args: Arguments) {
  const partner = await mustReadPartner(ctx, option(args, 'partner'));
  const role = args.options.role ?? 'owner';
  if (!isRole(role)) throw new UsageFault(`--role must be one of ${roles.join(', ')}.`);
  const invitation = { email: option(args, 'email'), role, place: partner.name, host: null };
  const { user, link } = await inviteUser(ctx, commandLine, scopeOf(partner.id, true), invitation, wordsOf('en'));
  return { partner: partner.slug, email: user.email, role: user.role, link };
}

async function removePasskeys(ctx: Context, args: Arguments) {
  const partner = await mustReadPartner(ctx, option(args, 'partner'));
  const email = option(args, 'email').toLowerCase();
  const team = scopeOf(partner.id, true);
  const isHolder = (user: User) => user.email === email;
  const removed = await removePasskeysOf(ctx, commandLine, team, { isHolder, place: partner.name }, wordsOf('en'));
  return { partner: partner.slug, email, removed };
}

/** Commands for a partner's users. */
export const portalCommands: Command[] = [
  {
    name: 'portal invite',
    usage: '--partner <slug> --email E [--role owner|developer|viewer]',
    summary:
      'Invites a user to a partner’s portal, as owner unless --role is given. E-mails the first sign-in link and prints it.',
    run: invite,
  },
  {
    name: 'portal passkeys remove',
    usage: '--partner <slug> --email E',
    summary: 'Removes all passkeys of a user who has lost them, so that an e-mailed link is enough to sign in.',
    run: removePasskeys,
  },
];
