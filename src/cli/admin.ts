import { type ChainCheck, verifyChains } from '../audit/verify.ts';
import { noPartner } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { wordsOf } from '../ui/language.ts';
import { inviteUser } from '../users/invite.ts';
import { serviceName } from '../users/mails.ts';
import { removePasskeysOf } from '../users/passkeys.ts';
import type { User } from '../users/read.ts';
import { commandLine, mustReadPartner } from './acting.ts';
import { type Arguments, type Command, option } from './command.ts';

async function invite(ctx: Context, args: Arguments) {
  const invitation = { email: option(args, 'email'), role: null, place: serviceName, host: null };
  const { user, link } = await inviteUser(ctx, 'operators', invitation, commandLine, wordsOf('en'));
  return { email: user.email, link };
}

async function removePasskeys(ctx: Context, args: Arguments) {
  const email = option(args, 'email').toLowerCase();
  const isMeant = (user: User) => user.email === email;
  const removed = await removePasskeysOf(ctx, 'operators', isMeant, serviceName, commandLine, wordsOf('en'));
  return { email, removed };
}

const shown = ({ partnerId, rows, hash, broken }: ChainCheck) => ({
  log: partnerId === noPartner ? 'operators' : partnerId,
  rows,
  hash,
  state: broken === null ? 'whole' : `row ${broken.number}: ${broken.why}`,
});

async function check(ctx: Context, args: Arguments) {
  const partner = args.options.partner === undefined ? null : await mustReadPartner(ctx, option(args, 'partner'));
  const checks = await verifyChains(ctx, partner?.id ?? null);
  const broken = checks.filter((one) => one.broken !== null);
  if (broken.length > 0) {
    const lines = broken.map(shown).map(({ log, state }) => `  ${log}: ${state}`);
    throw new Error(`The audit log is broken. Somebody changed it behind the service.\n${lines.join('\n')}`);
  }
  return { whole: true, logs: checks.map(shown) };
}

/** The people who run the service, and the log of what was done. */
export const adminCommands: Command[] = [
  {
    name: 'admin invite',
    usage: '--email E',
    summary: 'Lets somebody sign in to the administration; mails the first link and prints it.',
    run: invite,
  },
  {
    name: 'admin passkeys remove',
    usage: '--email E',
    summary: 'Takes all passkeys away from an operator who has lost them: a mailed link signs them in again.',
    run: removePasskeys,
  },
  {
    name: 'audit check',
    usage: '[--partner <slug>]',
    summary:
      'Checks that no row of the audit log was changed or taken out; keep the hashes elsewhere to compare later.',
    run: check,
  },
];
