/** Characters that show nothing: spaces, control characters, marks without width, and letters that are drawn empty. */
const blank =
  '\\s\u0001-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f' +
  '\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\u{1bca0}-\u{1bca3}' +
  '\u{1d159}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}';

/** A regular expression, for PostgreSQL too, that finds a character which shows something. */
export const visible = `[^${blank}]`;
const pattern = new RegExp(visible, 'u');

/**
 * The first of these texts that shows anything. Programs send an empty text for what they do not know, and a name that
 * shows nothing would leave people without a name, and lists without a link.
 */
export function firstVisible(...texts: (string | null | undefined)[]): string | null {
  return texts.find((text) => text != null && pattern.test(text)) ?? null;
}
