import { randomBytes } from 'node:crypto';

const pattern = /^[A-Za-z0-9_-]{43}$/;

/** A new token that nobody can guess, of a session, a link or a browser: 32 random bytes in base64url. */
export const newToken = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of such a token. */
export const isToken = (text: string | null): text is string => text !== null && pattern.test(text);
