import pg from 'pg';

/** Gives an error of the connection a code, if it has none. Returns an error of the server unchanged. */
export function lostError(cause: unknown): Error {
  if (cause instanceof pg.DatabaseError) return cause;
  const { code, message } = cause as { code?: unknown; message: string };
  // ENOENT: a restarting server has removed its Unix socket.
  if (typeof code === 'string' && code !== 'ENOENT') return cause as Error;
  const timedOut = /time-?out/i.test(message);
  return Object.assign(new Error(message, { cause }), { code: timedOut ? 'CONNECTION_TIMEOUT' : 'CONNECTION_CLOSED' });
}

/** Whether the server has become a standby. The connection is then useless: a new one may lead to the new primary. */
export const isReadOnly = (error: unknown) => error instanceof pg.DatabaseError && error.code === '25006';

/** Whether an error makes the connection unusable. */
export const isBroken = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || isReadOnly(error);
