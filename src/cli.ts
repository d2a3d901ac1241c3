import { readFileSync } from 'node:fs';
import { closestCommand, readArguments, splitTyped } from './cli/arguments.ts';
import { type Command, UsageFault } from './cli/command.ts';
import { layOut } from './cli/output.ts';
import { reasonOf, refuseSchema, requireStarted, withRunningAddress } from './cli/running.ts';
import { readConfig } from './config.ts';
import { refuseKeyFaults } from './db/secret-keys.ts';
import { printable, printableLines } from './lib/text/printable.ts';
import { joinService, standAlone } from './service.ts';

/**
 * Commands by their first word. Each group is loaded on use, because most need neither the server nor a chain library.
 */
const access = async () => (await import('./cli/access.ts')).accessCommands;
const webhooks = async () => (await import('./cli/webhooks.ts')).webhookCommands;
const sandbox = async () => [
  ...(await import('./cli/onboarding.ts')).onboardingCommands,
  ...(await import('./cli/chain.ts')).chainCommands,
  ...(await import('./cli/payments.ts')).paymentCommands,
  ...(await import('./cli/plans.ts')).planCommands,
];
const people = async () => (await import('./cli/admin.ts')).adminCommands;
const backups = async () => (await import('./cli/backup.ts')).backupCommands;
const groups: Record<string, () => Promise<Command[]>> = {
  partner: access,
  key: access,
  merchant: access,
  webhook: webhooks,
  listen: webhooks,
  attempts: async () => (await import('./cli/attempts.ts')).attemptCommands,
  portal: async () => (await import('./cli/portal.ts')).portalCommands,
  admin: people,
  audit: people,
  rate: async () => (await import('./cli/rates.ts')).rateCommands,
  secrets: async () => (await import('./cli/secrets.ts')).secretCommands,
  'base-url': async () => (await import('./cli/base-urls.ts')).baseUrlCommands,
  sandbox,
  wallet: sandbox,
  contracts: async () => (await import('./cli/contracts.ts')).contractCommands,
  logins: async () => (await import('./cli/logins.ts')).loginCommands,
  backup: backups,
  restore: backups,
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommands,
};
const develop = async () => (await import('./cli/develop.ts')).developCommands;
/** Commands for developers, which need no running service. */
const developGroups: typeof groups = { openapi: develop, schema: develop };

/** The command with the longest name that the words begin with. */
function find(all: Command[], words: string[]): Command | undefined {
  const line = words.join(' ');
  const matching = all.filter(({ name }) => line === name || line.startsWith(`${name} `));
  return matching.sort((a, b) => b.name.length - a.name.length)[0];
}

/** The commands whose names share the most first words with `words`; all commands if none shares any. */
async function commandsAbout(words: string[]): Promise<Command[]> {
  const all = await allCommands();
  for (let many = words.length; many > 0; many--) {
    const group = `${words.slice(0, many).join(' ')} `;
    const named = all.filter(({ name }) => `${name} `.startsWith(group));
    if (named.length > 0) return named;
  }
  return all;
}

async function allCommands(): Promise<Command[]> {
  return (await Promise.all([...new Set(Object.values(groups))].map((load) => load()))).flat();
}

const usageOf = ({ name, usage }: Command) => `quittance ${`${name} ${usage}`.trim()}`;

const exitCodes = 'Exit codes: 0 done, 1 refused or failed, 2 usage error.';

function help(about: Command[]): string {
  const linesOf = (command: Command) => `  ${usageOf(command)}\n      ${command.summary}`;
  const byGroup = Map.groupBy(about, ({ name }) => name.split(' ')[0]);
  const groupTexts = [...byGroup.values()].map((group) => group.map(linesOf).join('\n'));
  return `Usage: quittance <command> [options] [--json]\n\n${groupTexts.join('\n\n')}\n\n${exitCodes}\n`;
}

/** Exit codes: the command was refused or failed; the command line was wrong. */
const exit = { refused: 1, wrongUse: 2 } as const;

async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv[0] === '--version') return print(`${version()}\n`);
  const typed = splitTyped(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv);
  const [first = ''] = typed.words;
  const standalone = developGroups[first];
  const command = find((await (standalone ?? groups[first])?.()) ?? [], typed.words);
  if (typed.wantsHelp || argv.length === 0) return print(help(command ? [command] : await commandsAbout(typed.words)));
  if (!command) throw new UsageFault(await whatIsThere(typed.words));
  const args = withUsage(command, () => readArguments(command, typed));
  if (!standalone) requireStarted(process.env);
  const config = readConfig(withRunningAddress(process.env));
  const service = await (standalone ? standAlone(config) : joinService(config, command.lockS));
  try {
    if (!standalone && !command.withAnyKeys) {
      await refuseSchema(service.ctx.db.sql);
      await refuseKeyFaults(service.ctx.db.sql, config.secretKeys);
    }
    const answer = await command.run(service.ctx, args);
    print(args.options.json ? `${printable(JSON.stringify(answer))}\n` : layOut(answer, command.leftToJson));
    if (command.hasFailed?.(answer)) process.exitCode = exit.refused;
  } catch (error) {
    withUsage(command, () => {
      throw error;
    });
  } finally {
    await service.close();
  }
}

const print = (text: string): void => void process.stdout.write(text);

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}

/** Adds the command's usage to the message of a `UsageFault`. */
function withUsage<T>(command: Command, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof UsageFault) throw new UsageFault(`${error.message}\nUsage: ${usageOf(command)}`);
    throw error;
  }
}

/** The message for words that name no command, with the closest command or the commands of the group that they name. */
async function whatIsThere(words: string[]): Promise<string> {
  if (words.length === 0) return 'No command was given. quittance --help lists all commands.';
  const all = await allCommands();
  const about = await commandsAbout(words);
  const names = all.map(({ name }) => name);
  const groups = new Set(names.filter((name) => name.includes(' ')).map((name) => name.split(' ', 1)[0] ?? name));
  groups.delete(words[0] ?? ''); // it is written correctly
  const close = closestCommand([...names, ...groups], words);
  const isGroup = all.some(({ name }) => name.startsWith(`${words.join(' ')} `));
  const sentence = isGroup
    ? `"${words.join(' ')}" needs another word:`
    : `There is no command "${words.join(' ')}".${close ? ` Did you mean ${close}?` : ''}`;
  if (about.length < all.length) return `${sentence}\n${help(about)}`.trimEnd();
  return close ? sentence : `${sentence} quittance --help lists all commands.`;
}

// The reader of the output has gone, as with `| head -1`. The command still completes its work; `listen` ends by
// itself.
process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`The command has ended, but its answer could not be written: ${message}.\n`);
  process.exitCode = exit.refused;
});
process.stderr.on('error', () => {}); // then nobody can be told

main().catch((error: unknown) => {
  const reason = reasonOf(error, Boolean(process.env.DATABASE_URL));
  process.stderr.write(`${printableLines(reason)}\n`);
  process.exitCode = error instanceof UsageFault ? exit.wrongUse : exit.refused;
});
