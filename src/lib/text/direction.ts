/** Embeddings and overrides of the text direction: a name with one reverses the text around it. */
const overrides = /[\u202a-\u202e]/g;
const isolates = /[\u2066-\u2069]/g;
const endOfIsolate = '\u2069';

/**
 * Makes somebody else's text safe, so that it cannot reverse an amount or an address beside it. Overrides are removed.
 * An isolate that the text begins ends with it, and it cannot end an earlier one.
 */
export function withOwnDirection(text: string): string {
  let open = 0;
  const balanced = text.replace(overrides, '').replace(isolates, (mark) => {
    if (mark !== endOfIsolate) open++;
    else if (open === 0) return '';
    else open--;
    return mark;
  });
  return balanced + endOfIsolate.repeat(open);
}
