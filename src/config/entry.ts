/** An object of a settings file, as it was parsed. */
export type Entry = Record<string, unknown>;
/** Notes a fault, as a sentence without secrets. */
export type ReportFault = (fault: string) => void;

/** A misspelt field must not be ignored: `"offerd": false` would offer the token. */
export function refuseUnknown(entry: Entry, known: readonly string[], place: string, fail: ReportFault): void {
  for (const name of Object.keys(entry))
    if (!known.includes(name)) fail(`"${name}" of ${place} is unknown; there are ${known.join(', ')}`);
}

/** Replaces a value that is no object by an empty one, so that every required field is reported as missing. */
export const entryOf = (value: unknown): Entry => (typeof value === 'object' && value !== null ? (value as Entry) : {});

/** A list; empty if the value is none. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** A text that may be absent (null) but not blank. */
export function readText(entry: Entry, name: string, fail: ReportFault): string | null {
  const value = entry[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' && value.trim() !== '') return value;
  fail(`${name} must be a text`);
  return null;
}

/** Whether a value is an address with http or https. It can contain a user and a password. */
export const isHttp = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\/[^/?#]/i.test(value) && URL.canParse(value);

/** An address for browsers, so without user and password; it may be absent (null). */
export function readUrl(entry: Entry, name: string, fail: ReportFault): string | null {
  const value = entry[name];
  if (value === undefined || value === null) return null;
  if (isHttp(value) && new URL(value).username === '' && new URL(value).password === '') return value;
  fail(`${name} must be an address with http or https, without user and password`);
  return null;
}
