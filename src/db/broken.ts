import pg from 'pg';

/** An error of the connection rather than of a statement, with a code that says so. */
export function lostError(cause: unknown): Error {
  if (cause instanceof pg.DatabaseError) return cause;
  const { code, message } = cause as { code?: unknown; message: string };
  // A restarting server removes the socket that it listens at.
  if (typeof code === 'string' && code !== 'ENOENT') return cause as Error;
  const timedOut = /time-?out/i.test(message);
  return Object.assign(new Error(message, { cause }), { code: timedOut ? 'CONNECTION_TIMEOUT' : 'CONNECTION_CLOSED' });
}

/** The server has become a standby, so the connection is of no more use; a new one may lead to the promoted server. */
export const isReadOnly = (error: unknown) => error instanceof pg.DatabaseError && error.code === '25006';

/** After this, a connection is of no more use. */
export const isBroken = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || isReadOnly(error);
