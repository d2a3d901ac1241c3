/** Control characters, and characters that change the direction of the text after them. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * Makes outside text safe for a terminal: characters that would move the cursor, colour or reorder text are printed as
 * escapes, such as `\u001b`. In JSON on one line this changes no value.
 */
export function printable(text: string): string {
  return text.replace(unprintable, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Text of several lines, each made printable. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}
