/** A pattern of SQL's `like` for whatever contains the text: its own wildcards stand for themselves. */
export const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;
