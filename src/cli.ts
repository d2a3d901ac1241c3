import { type Arguments, type Command, UsageFault } from './cli/command.ts';
import { layOut, printable, printableLines } from './cli/output.ts';
import { readConfig } from './config.ts';
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
];
const people = async () => (await import('./cli/admin.ts')).adminCommands;
const groups: Record<string, () => Promise<Command[]>> = {
  partner: access,
  key: access,
  merchant: access,
  webhook: webhooks,
  listen: webhooks,
  portal: async () => (await import('./cli/portal.ts')).portalCommands,
  admin: people,
  audit: people,
  rate: async () => (await import('./cli/rates.ts')).rateCommands,
  secrets: async () => (await import('./cli/secrets.ts')).secretCommands,
  sandbox,
  wallet: sandbox,
  logins: async () => (await import('./cli/logins.ts')).loginCommands,
  doctor: async () => (await import('./cli/doctor.ts')).doctorCommands,
};
const develop = async () => (await import('./cli/develop.ts')).developCommands;
/** They need no running service. */
const developGroups: typeof groups = { openapi: develop, schema: develop };

/** Options without a value: they must not take the next word as theirs. */
const flags = new Set(['cancel', 'json', 'untagged', 'help', 'check']);

function parse(words: string[]): Arguments {
  const args: Arguments = { words: [], options: {} };
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string;
    if (!word.startsWith('--')) {
      args.words.push(word);
      continue;
    }
    const [name = '', inline] = word.slice(2).split(/=(.*)/s);
    const next = words[i + 1];
    if (inline !== undefined) args.options[name] = inline;
    else if (flags.has(name) || next === undefined || next.startsWith('--')) args.options[name] = true;
    else args.options[name] = words[++i] as string;
  }
  return args;
}

/** The command with the longest name that the words begin with. */
function find(all: Command[], words: string[]): Command | undefined {
  const line = words.join(' ');
  const matching = all.filter(({ name }) => line === name || line.startsWith(`${name} `));
  return matching.sort((a, b) => b.name.length - a.name.length)[0];
}

/** The commands that the most of the first words name; all where they name none. */
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

function help(about: Command[]): string {
  const lines = about.flatMap((command) => [`  ${usageOf(command)}`, `      ${command.summary}`]);
  return `Usage: quittance <command> [options] [--json]\n\n${lines.join('\n')}\n`;
}

async function main(): Promise<void> {
  const args = parse(process.argv.slice(2));
  const [first = ''] = args.words;
  const standalone = developGroups[first];
  const command = find((await (standalone ?? groups[first])?.()) ?? [], args.words);
  if (!command || args.options.help) {
    const known = args.words.length === 0 || args.options.help;
    process[known ? 'stdout' : 'stderr'].write(help(command ? [command] : await commandsAbout(args.words)));
    process.exitCode = known ? 0 : 1;
    return;
  }
  const commandWords = command.name.split(' ').length;
  const rest = { ...args, words: args.words.slice(commandWords) };
  const config = readConfig(process.env);
  const service = await (standalone ? standAlone(config) : joinService(config));
  try {
    const answer = await command.run(service.ctx, rest);
    if (args.options.json) process.stdout.write(`${printable(JSON.stringify(answer))}\n`);
    else process.stdout.write(layOut(answer));
    if (command.hasFailed?.(answer)) process.exitCode = 1;
  } catch (error) {
    if (error instanceof UsageFault) throw new Error(`${error.message}\nUsage: ${usageOf(command)}`);
    throw error;
  } finally {
    await service.close();
  }
}

main().catch((error: unknown) => {
  const { message, code } = error as NodeJS.ErrnoException;
  const unreachable = code === 'ECONNREFUSED' || code === 'CONNECT_TIMEOUT';
  const told = unreachable
    ? 'The database does not answer. Is the service running? Start it with npm start.'
    : code === '28P01'
      ? `${message}. The service creates its logins when it starts: start it once with the same SECRET_KEYS as here.`
      : message;
  process.stderr.write(`${printableLines(told)}\n`);
  process.exitCode = 1;
});
