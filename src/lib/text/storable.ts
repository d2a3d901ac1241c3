/** True for text that the database can hold as it is: without NUL, and without half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** The same for all names and texts of a query or a form; files, bytes that nobody has read yet, and what is no text, are passed over. */
export function areStorable(fields: unknown): boolean {
  if (Buffer.isBuffer(fields)) return true;
  return Object.entries(fields ?? {}).every(([name, value]) =>
    [name, value].flat().every((part) => typeof part !== 'string' || isStorable(part)),
  );
}
