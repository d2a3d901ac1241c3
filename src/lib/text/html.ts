import { withOwnDirection } from './direction.ts';

/** A piece of HTML that is already escaped. Only `html` and `raw` make one. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

type HtmlValue = string | number | bigint | Html | null | undefined | false | readonly HtmlValue[];

function render(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (Array.isArray(value)) return value.map(render).join('');
  return withOwnDirection(String(value)).replace(/[&<>"']/g, (char) => escapes[char] ?? char);
}

const marks = /<\/?[a-z!]+|"|>|\s*\n\s*/gi;
/** Elements whose text is shown, or run, unchanged. */
const keepsLines = /^<(pre|textarea|script|style)$/i;

/** The strings of a template without its line breaks and indentation, which are for readers of the code. */
function withoutLines(strings: readonly string[]): string[] {
  let [isTag, isQuoted] = [false, false];
  let kept: string | null = null;
  return strings.map((text) =>
    text.replace(marks, (mark, at: number) => {
      if (mark.startsWith('<')) {
        if (kept !== null && mark.toLowerCase() !== `</${kept}`) return mark;
        kept = keepsLines.exec(mark)?.[1]?.toLowerCase() ?? null;
        if (!isQuoted) isTag = true;
      } else if (mark === '"') {
        isQuoted = isTag && !isQuoted;
      } else if (mark === '>') {
        if (!isQuoted) isTag = false;
      } else {
        const [before, after] = [text[at - 1], text[at + mark.length]];
        if (isTag) return after === '>' ? '' : ' ';
        if (kept !== null) return mark;
        return before === undefined || before === '>' || after === undefined || after === '<' ? '' : ' ';
      }
      return mark;
    }),
  );
}

const templates = new WeakMap<TemplateStringsArray, string[]>();

/**
 * Template tag that escapes every value. Nested `html` is kept, arrays are joined, null and false render nothing. A
 * line break beside a tag or a value is dropped with its indentation, as in JSX. Between words and inside of a tag it
 * is one space. Write a space that must show within a line, `${name} <b>${amount}</b>`, or alone: `${' '}`.
 */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let texts = templates.get(strings);
  if (!texts) {
    texts = withoutLines(strings);
    templates.set(strings, texts);
  }
  return new Html(texts.reduce((out, text, i) => out + render(values[i - 1]) + text));
}

/** Marks text as HTML that needs no escaping, for markup made by our own code or a library (a QR code's SVG). */
export function raw(text: string): Html {
  return new Html(text);
}
