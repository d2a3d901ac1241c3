/** How many characters the parser quotes before the wrong one. */
const quotedBefore = 10;

/** Where JSON stops being valid. The parser's own message quotes the file, whose addresses contain keys. */
export function positionOfJsonFault({ message }: Error, text: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  const [, cut = '', quoted = null] = /(\.\.\.)?"(.+?)"(?:\.\.\.)? is not valid JSON$/s.exec(message) ?? [];
  const quotedAt = quoted === null ? text.length : text.indexOf(quoted) + (cut ? quotedBefore : 0);
  return `near line ${text.slice(0, Number(position ?? quotedAt)).split('\n').length}`;
}
