import { isRole, roles } from '../auth/roles.ts';
import { scopeOf } from '../auth/scope.ts';
import type { Context } from '../context.ts';
import { wordsOf } from '../ui/language.ts';
import { inviteUser } from '../users/invite.ts';
import { commandLine, mustReadPartner } from './acting.ts';
import { type Arguments, type Command, option } from './command.ts';

async function invite(ctx: Context, args: Arguments) {
  const partner = await mustReadPartner(ctx, option(args, 'partner'));
  const role = args.options.role ?? 'owner';
  if (!isRole(role)) throw new Error(`--role must be one of ${roles.join(', ')}.`);
  const invitation = { email: option(args, 'email'), role, place: partner.name, host: null };
  const { user, link } = await inviteUser(ctx, scopeOf(partner.id, true), invitation, commandLine, wordsOf('en'));
  return { partner: partner.slug, email: user.email, role: user.role, link };
}

/** People of a partner. */
export const portalCommands: Command[] = [
  {
    name: 'portal invite',
    usage: '--partner <slug> --email E [--role owner|developer|viewer]',
    summary: 'Lets somebody sign in to a partner’s portal, as owner unless said; mails the first link and prints it.',
    run: invite,
  },
];
