/** Embeddings and overrides of the direction: a name with one makes what stands around it read backwards. */
const overrides = /[\u202a-\u202e]/g;
const isolates = /[\u2066-\u2069]/g;
const endOfIsolate = '\u2069';

/**
 * A text that somebody else wrote, so that it turns nothing that stands beside it: no amount, no address. Overrides are
 * left out. An isolate that it begins ends with it, and it ends none that it did not begin.
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
