import { parseInstant } from '../lib/time.ts';

const longest = 600;

/** A page's query as text by name. Empty, repeated or overlong values are left out. */
export function readQuery(query: unknown, names: readonly string[]): Record<string, string> {
  const given = (query ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = given[name];
      const text = typeof value === 'string' ? value.trim() : '';
      return text === '' || text.length > longest ? [] : [[name, text]];
    }),
  );
}

/** A text if it is one of these words; otherwise undefined. */
export function oneOf<W extends string>(words: readonly W[], text: string | undefined): W | undefined {
  return words.find((word) => word === text);
}

/** Parses a day or an instant of a query; undefined for anything else. */
export function instantOf(text: string | undefined): Date | undefined {
  return (text !== undefined && parseInstant(text)) || undefined;
}

/** A link to a path with the query changed; null removes a value. */
export function linkWith(path: string, query: Record<string, string>, change: Record<string, string | null>): string {
  const next = Object.entries({ ...query, ...change }).filter(([, value]) => value !== null && value !== '');
  const text = new URLSearchParams(next as [string, string][]).toString();
  return text === '' ? path : `${path}?${text}`;
}
