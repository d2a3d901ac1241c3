/** A pattern of SQL's `like` for everything that contains the text, whose own wildcards are escaped. */
export const containsPattern = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
