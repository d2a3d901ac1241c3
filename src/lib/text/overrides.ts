/** Embeddings and overrides of the direction: a name with one makes what stands around it read backwards. */
const overrides = /[\u202a-\u202e]/g;

/** A text that somebody else wrote, so that it turns nothing that stands beside it: no amount, no address. */
export const withoutOverrides = (text: string): string => text.replace(overrides, '');
