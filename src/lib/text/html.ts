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
  return String(value).replace(/[&<>"']/g, (char) => escapes[char] ?? char);
}

/** Template tag that escapes every value. Nested `html` is kept, arrays are joined, null and false render nothing. */
export function html(strings: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Html(strings.reduce((out, text, i) => out + render(values[i - 1]) + text));
}

/** Marks text as HTML that needs no escaping, for markup made by our own code or a library (a QR code's SVG). */
export function raw(text: string): Html {
  return new Html(text);
}
