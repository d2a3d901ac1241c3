/** True for text that the database can store: without NUL and without lone surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Replaces the characters of somebody else's text that the database cannot store. */
export const makeStorable = (text: string): string => text.replaceAll('\0', '\uFFFD').toWellFormed();

/**
 * Whether all names and texts of a query or a form are storable. Files, unread bytes and values that are not text are
 * skipped.
 */
export function areStorable(fields: unknown): boolean {
  if (Buffer.isBuffer(fields)) return true;
  return Object.entries(fields ?? {}).every(([name, value]) =>
    [name, value].flat().every((part) => typeof part !== 'string' || isStorable(part)),
  );
}
