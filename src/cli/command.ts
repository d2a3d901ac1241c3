import type { Context } from '../context.ts';

/** Words after the command's name, and its options (`--name value`; a bare `--name` is `true`). */
export type Arguments = { words: string[]; options: Record<string, string | true> };

/**
 * One command of the command line.
 *
 * `run` returns the JSON object that `--json` prints; otherwise the object is formatted for people. It throws an Error
 * whose message is a sentence that says what to do.
 */
export type Command = {
  /** The command's words, e.g. `webhook set`. */
  name: string;
  /** What follows the name, e.g. `--partner <slug> --mode test|live --url URL`. */
  usage: string;
  summary: string;
  run(ctx: Context, args: Arguments): Promise<Record<string, unknown>>;
  /** Columns too wide for a terminal: only `--json` prints them. */
  leftToJson?: string[];
  /** Runs also when SECRET_KEYS do not match the database. Others would store what no node can read. */
  withAnyKeys?: true;
  /** How many seconds its statements wait for a lock; by default as long as for an answer. */
  lockS?: number;
  /** Whether the exit code must be 1 although the command returned an answer. */
  hasFailed?(answer: Record<string, unknown>): boolean;
};

/** A word or an option is missing or invalid. The message is printed with the command's usage. */
export class UsageFault extends Error {}

/**
 * Reads a required word; `what` names it in the error.
 *
 * @throws UsageFault
 */
export function word(args: Arguments, index: number, what: string): string {
  const value = args.words[index];
  if (value === undefined) throw new UsageFault(`${what} is missing.`);
  return value;
}

/**
 * Reads the value of a required option.
 *
 * @throws UsageFault
 */
export function option(args: Arguments, name: string): string {
  const value = args.options[name];
  if (typeof value !== 'string') throw new UsageFault(`--${name} is missing.`);
  return value;
}

/**
 * Reads the value of an option; null if it is left out.
 *
 * @throws UsageFault if it has no value
 */
export function optionalOption(args: Arguments, name: string): string | null {
  return args.options[name] === undefined ? null : option(args, name);
}

/**
 * Reads an option that is a whole number.
 *
 * @param fallback its value if it is left out; without one it is required
 * @throws UsageFault
 */
export function numberOption(
  args: Arguments,
  name: string,
  { min, max = Number.POSITIVE_INFINITY, fallback }: { min: number; max?: number; fallback?: number },
): number {
  if (args.options[name] === undefined && fallback !== undefined) return fallback;
  const value = Number(option(args, name));
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  const range = Number.isFinite(max) ? `from ${min} to ${max}` : `from ${min} on`;
  throw new UsageFault(`--${name} must be a whole number ${range}.`);
}

/**
 * Reads `--mode test|live`; true for test mode.
 *
 * @throws UsageFault
 */
export function testModeOption(args: Arguments): boolean {
  const mode = option(args, 'mode');
  if (mode !== 'test' && mode !== 'live') throw new UsageFault('--mode must be test or live.');
  return mode === 'test';
}
