import { isStorable } from './storable.ts';

/** A parsed body and, for the objects directly under the root, their keys as they were written. */
export type StrictJson = { value: Record<string, unknown>; keyOrder: Map<string, string[]> };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a JSON object and refuses what parsers disagree on: bytes that are no UTF-8, duplicate keys, NUL, lone
 * surrogates and a key `__proto__`.
 *
 * Key order is reported beside the value because JavaScript moves keys that look like integers to the front.
 *
 * @returns null when the bytes break a rule
 */
export function parseStrictJson(bytes: Uint8Array): StrictJson | null {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    const keyOrder = scan(text);
    return keyOrder && { value: value as Record<string, unknown>, keyOrder };
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

/** In valid JSON a string inside an object is a key exactly when a colon follows. */
const colon = /\s*:/y;

type Level = { keys: string[] | null; seen: Set<string>; lastKey: string };

/** Walks the tokens of a text that is known to be valid JSON, without recursion: depth costs no stack. */
function scan(text: string): Map<string, string[]> | null {
  const keyOrder = new Map<string, string[]>();
  const levels: Level[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const part = match[0];
    if (part === '{' || part === '[') {
      const level: Level = { keys: part === '{' ? [] : null, seen: new Set(), lastKey: '' };
      const parent = levels.at(-1);
      if (levels.length === 1 && parent?.keys && level.keys) keyOrder.set(parent.lastKey, level.keys);
      levels.push(level);
    } else if (part === '}' || part === ']') {
      levels.pop();
    } else if (!takeString(text, part, token.lastIndex, levels.at(-1))) {
      return null;
    }
  }
  return keyOrder;
}

function takeString(text: string, token: string, end: number, level: Level | undefined): boolean {
  const string: string = token.includes('\\') ? JSON.parse(token) : token.slice(1, -1);
  if (!isStorable(string)) return false;
  colon.lastIndex = end;
  if (!level?.keys || !colon.test(text)) return true;
  if (string === '__proto__' || level.seen.has(string)) return false;
  level.seen.add(string);
  level.keys.push(string);
  level.lastKey = string;
  return true;
}
