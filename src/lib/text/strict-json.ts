import { isStorable } from './storable.ts';

/** A parsed body and, for the objects directly below the root, their keys in the order written. */
export type StrictJson = { value: Record<string, unknown>; keyOrder: Map<string, string[]> };
/** The rule that a text breaks. */
export type JsonFault = 'empty' | 'byte_order_mark' | 'no_utf8' | 'no_json' | 'no_object' | 'too_deep' | StringFault;
/** A rule that a key or another string breaks in JSON that parsers may disagree on. */
type StringFault = 'not_storable' | 'proto_key' | 'duplicate_key';

/** No call of ours needs more than three levels. */
const maxDepth = 32;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON object and refuses what parsers disagree on: invalid UTF-8, duplicate keys, NUL, lone surrogates, a key
 * `__proto__`, and more than 32 levels. A number that would lose its fraction becomes NaN, which no field accepts.
 *
 * Key order is reported separately because JavaScript moves keys that look like integers to the front.
 *
 * @returns the rule that the bytes break, if they break one
 */
export function readStrictJson(bytes: Uint8Array): StrictJson | JsonFault {
  try {
    const text = utf8.decode(bytes);
    if (text.startsWith('\ufeff')) return 'byte_order_mark';
    if (text.trim() === '') return 'empty';
    if (isTooDeep(text)) return 'too_deep';
    const value: unknown = mayRound.test(text) ? JSON.parse(text, keepFraction as Reviver) : JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no_object';
    const keyOrder = scan(text);
    return typeof keyOrder === 'string' ? keyOrder : { value: value as Record<string, unknown>, keyOrder };
  } catch (error) {
    if (error instanceof SyntaxError) return 'no_json';
    if (error instanceof TypeError) return 'no_utf8';
    throw error;
  }
}

/** Parses a JSON object by the same rules; null when the bytes break one. */
export function parseStrictJson(bytes: Uint8Array): StrictJson | null {
  const parsed = readStrictJson(bytes);
  return typeof parsed === 'string' ? null : parsed;
}

/** Numbers of fewer digits keep their fraction. */
const mayRound = /[\d.]{17}|\d[eE]-/;

type Reviver = NonNullable<Parameters<typeof JSON.parse>[1]>;

/** 1250.00000000000000001 is parsed as 1250: an amount would be taken that nobody wrote. */
function keepFraction(_key: string, value: unknown, { source = '' }: { source?: string }): unknown {
  if (!Number.isInteger(value)) return value;
  const [digits = '', exponent = '0'] = source.toLowerCase().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const figures = `${whole}${fraction}`.replace(/^-?0*/, '');
  let zeros = 0; // at the end; a regular expression would take a second for each 25,000 of them in the middle
  while (figures.at(-1 - zeros) === '0') zeros++;
  return figures === '' || fraction.length - Number(exponent) <= zeros ? value : Number.NaN;
}

const [quote, backslash, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d];

/** In valid JSON a string inside an object is a key exactly when a colon follows. */
const colon = /\s*:/y;

type Level = { keys: string[] | null; seen: Set<string> | null; lastKey: string };

/** Checked before parsing. For text that is not JSON the result may be wrong, which parsing then reveals. */
function isTooDeep(text: string): boolean {
  let [depth, inString] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === backslash) at++;
      else if (code === quote) inString = false;
    } else if (code === quote) inString = true;
    else if (code === openBrace || code === openBracket) {
      if (++depth > maxDepth) return true;
    } else if (code === closeBrace || code === closeBracket) depth--;
  }
  return false;
}

/** Walks the tokens of a text that is known to be valid JSON, without recursion. */
function scan(text: string): Map<string, string[]> | StringFault {
  const keyOrder = new Map<string, string[]>();
  const levels: Level[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const part = match[0];
    if (part === '{' || part === '[') {
      const level: Level = { keys: part === '{' ? [] : null, seen: part === '{' ? new Set() : null, lastKey: '' };
      const parent = levels.at(-1);
      if (levels.length === 1 && parent?.keys && level.keys) keyOrder.set(parent.lastKey, level.keys);
      levels.push(level);
    } else if (part === '}' || part === ']') {
      levels.pop();
    } else {
      const fault = takeString(text, part, token.lastIndex, levels.at(-1));
      if (fault) return fault;
    }
  }
  return keyOrder;
}

function takeString(text: string, token: string, end: number, level: Level | undefined): StringFault | null {
  const string: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (!isStorable(string)) return 'not_storable';
  colon.lastIndex = end;
  if (!level?.keys || !level.seen || !colon.test(text)) return null;
  if (string === '__proto__') return 'proto_key';
  if (level.seen.has(string)) return 'duplicate_key';
  level.seen.add(string);
  level.keys.push(string);
  level.lastKey = string;
  return null;
}
