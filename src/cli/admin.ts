import { type ObjectNames, readObjectNames } from '../audit/names.ts';
import { type ChainCheck, isHash, verifyChains } from '../audit/verify.ts';
import { noPartner } from '../audit/write.ts';
import type { Context } from '../context.ts';
import { adminTexts } from '../texts/admin.ts';
import { wordsOf } from '../ui/language.ts';
import { inviteUser } from '../users/invite.ts';
import { serviceName } from '../users/mails.ts';
import { removePasskeysOf } from '../users/passkeys/passkeys.ts';
import type { User } from '../users/read.ts';
import { commandLine, mustReadPartner } from './actor.ts';
import { type Arguments, type Command, option, optionalOption, UsageFault } from './command.ts';

async function invite(ctx: Context, args: Arguments) {
  const invitation = { email: option(args, 'email'), role: null, place: serviceName, host: null };
  const { user, link } = await inviteUser(ctx, commandLine, 'operators', invitation, wordsOf('en'));
  return { email: user.email, link };
}

async function removePasskeys(ctx: Context, args: Arguments) {
  const email = option(args, 'email').toLowerCase();
  const isHolder = (user: User) => user.email === email;
  const removed = await removePasskeysOf(
    ctx,
    commandLine,
    'operators',
    { isHolder, place: serviceName },
    wordsOf('en'),
  );
  return { email, removed };
}

const stateOf = ({ broken }: ChainCheck) =>
  broken === null ? 'whole' : `row ${broken.number}: ${adminTexts(wordsOf('en')).audit.breaches[broken.why]}`;

/** `partner` is its slug, for people; `log` identifies the log. */
const shown = (names: ObjectNames) => (check: ChainCheck) => ({
  partner: names.get(`partner ${check.partnerId}`)?.slug ?? null,
  log: check.partnerId === noPartner ? 'operators' : check.partnerId,
  rows: check.rows,
  hash: check.hash,
  state: stateOf(check),
  ...(check.keptAt !== null && { kept_hash_is_row: check.keptAt }),
});

async function check(ctx: Context, args: Arguments) {
  const kept = optionalOption(args, 'kept');
  if (kept !== null && !isHash(kept))
    throw new UsageFault('--kept must be a hash of 64 hex digits from an earlier check.');
  const partner = args.options.partner === undefined ? null : await mustReadPartner(ctx, option(args, 'partner'));
  const checks = await verifyChains(ctx, partner?.id ?? null, kept);
  const logs = checks.map(({ partnerId }) => ({ object_kind: 'partner', object_id: partnerId, details: '{}' }));
  const show = shown(await readObjectNames(ctx, 'operators', logs));
  const broken = checks.filter((one) => one.broken !== null);
  if (broken.length > 0) {
    const lines = broken.map(show).map(({ partner, log, state }) => `  ${partner ?? log}: ${state}`);
    throw new Error(`The audit log is broken: someone changed it outside the service.\n${lines.join('\n')}`);
  }
  if (kept !== null && checks.every(({ keptAt }) => keptAt === null)) {
    throw new Error(
      'No entry has the kept hash: the log was truncated or rewritten since, or the hash belongs to another log.',
    );
  }
  return { whole: true, logs: checks.map(show) };
}

/** Commands for operators and for the audit log. */
export const adminCommands: Command[] = [
  {
    name: 'admin invite',
    usage: '--email E',
    summary: 'Invites an operator to the administration. E-mails the first sign-in link and prints it.',
    run: invite,
  },
  {
    name: 'admin passkeys remove',
    usage: '--email E',
    summary: 'Removes all passkeys of an operator who has lost them, so that an e-mailed link is enough to sign in.',
    run: removePasskeys,
  },
  {
    name: 'audit check',
    usage: '[--partner <slug>] [--kept <hash>]',
    summary:
      'Checks that no entry of the audit logs was changed or removed, and prints the last row number and hash of each. --kept looks for a hash that you recorded earlier.',
    run: check,
  },
];
