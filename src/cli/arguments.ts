import { parseArgs } from 'node:util';
import leven, { closestMatch } from 'leven';
import { type Arguments, type Command, UsageFault } from './command.ts';

type OptionKinds = Record<string, { type: 'string' | 'boolean' }>;

/** Options that every command takes, at any position. */
const commonOptions: OptionKinds = { json: { type: 'boolean' }, help: { type: 'boolean' } };

/** The most edits by which a name counts as mistyped; at least half of a short name must be right. */
const typoDistance = 3;

const maxTypo = (name: string) => Math.min(typoDistance, Math.floor(name.length / 2));

/** A command line: the words before the first option, which begin with the command's name, and the rest. */
export type CommandLine = { words: string[]; rest: string[]; wantsHelp: boolean };

/** Splits a command line; `--json` and `--help` may also come before the command. */
export function splitTyped(argv: readonly string[]): CommandLine {
  const isCommon = (text: string) => text.startsWith('--') && text.slice(2) in commonOptions;
  const first = argv.findIndex((text) => !isCommon(text));
  const leading = first === -1 ? argv : argv.slice(0, first);
  const typed = argv.slice(leading.length);
  const end = typed.findIndex((text) => text.startsWith('-'));
  const words = end === -1 ? typed : typed.slice(0, end);
  return {
    words,
    rest: [...(end === -1 ? [] : typed.slice(end)), ...leading],
    wantsHelp: argv.includes('--help') || argv.includes('-h'),
  };
}

/**
 * Parses what follows a command's name. The command's usage defines its options and words.
 *
 * @throws UsageFault for an option or a word that the command does not take, naming the closest option, and for one
 * that is given twice
 */
export function readArguments(
  { name, usage }: Pick<Command, 'name' | 'usage'>,
  { words, rest }: CommandLine,
): Arguments {
  const own = words.slice(name.split(' ').length);
  const kinds = { ...commonOptions, ...optionKinds(usage) };
  const parsed = parse([...own, ...rest], kinds);
  const extra = parsed.words[countWords(usage)];
  if (extra !== undefined) throw new UsageFault(`Unexpected argument "${extra}".`);
  return parsed;
}

function parse(args: string[], options: OptionKinds): Arguments {
  const { tokens } = parseArgs({ args, options, strict: false, allowPositionals: true, tokens: true });
  const read: Arguments = { words: [], options: {} };
  for (const token of tokens) {
    if (token.kind === 'positional') read.words.push(token.value);
    if (token.kind !== 'option') continue;
    const value = readValue(token, options);
    // Of two values one would be ignored, and the command would act on the other.
    if (token.name in read.options) throw new UsageFault(`${token.rawName} was given twice.`);
    read.options[token.name] = value;
  }
  return read;
}

function readValue(token: { name: string; rawName: string; value: string | undefined }, options: OptionKinds) {
  const kind = options[token.name]?.type;
  const { rawName, value } = token;
  if (kind === undefined) {
    const close = closestMatch(token.name, Object.keys(options), { maxDistance: maxTypo(token.name) });
    throw new UsageFault(`There is no option ${rawName}.${close ? ` Did you mean --${close}?` : ''}`);
  }
  if (kind === 'string' && (value === undefined || value.startsWith('--')))
    throw new UsageFault(`${rawName} needs a value.`);
  if (kind === 'boolean' && value !== undefined) throw new UsageFault(`${rawName} takes no value.`);
  return value ?? true;
}

/** An option takes a value if its name in the usage is followed by one. */
function optionKinds(usage: string): OptionKinds {
  const found = usage.matchAll(/--([a-z][a-z-]*)( [^\s[\]|-])?/g);
  return Object.fromEntries([...found].map(([, name, value]) => [name, { type: value ? 'string' : 'boolean' }]));
}

function countWords(usage: string): number {
  return usage.replace(/--[a-z-]+ <[^>]+>/g, '').match(/<[^>]+>/g)?.length ?? 0;
}

/** The command whose name is closest to the first words; undefined if none is close. */
export function closestCommand(names: readonly string[], words: readonly string[]): string | undefined {
  const all = names.map((name) => ({ name, distance: leven(name, words.slice(0, wordsIn(name)).join(' ')) }));
  const near = all.filter(({ name, distance }) => distance <= maxTypo(name));
  return near.sort((a, b) => a.distance - b.distance)[0]?.name;
}

const wordsIn = (name: string) => name.split(' ').length;
