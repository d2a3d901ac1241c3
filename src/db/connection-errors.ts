import pg from 'pg';

/**
 * The pool's message when no connection became free in time. Its errors have no code, and this message reads like that
 * of a lost server.
 */
const ofBusyPool = 'timeout exceeded when trying to connect';
const busyPool = 'all connections of this part of the service were at work, and none became free in time';

/** Gives an error of the connection a code, if it has none. Returns an error of the server unchanged. */
export function lostError(cause: unknown): Error {
  if (cause instanceof pg.DatabaseError) return cause;
  const { code, message } = cause as { code?: unknown; message: string };
  // ENOENT: a restarting server has removed its Unix socket.
  if (typeof code === 'string' && code !== 'ENOENT') return cause as Error;
  if (message === ofBusyPool) return Object.assign(new Error(busyPool), { code: 'CONNECTION_TIMEOUT' });
  const timedOut = /time-?out/i.test(message);
  return Object.assign(new Error(message, { cause }), { code: timedOut ? 'CONNECTION_TIMEOUT' : 'CONNECTION_CLOSED' });
}

/** The SQLSTATE of a change on a server that only reads. */
export const readOnly = '25006';

/** Whether the server has become a standby. The connection is then useless; a new one may lead to the new primary. */
export const isReadOnly = (error: unknown) => error instanceof pg.DatabaseError && error.code === readOnly;

/** Whether an error makes the connection unusable. */
export const isBroken = (error: unknown) =>
  !(error instanceof pg.DatabaseError) || error.severity === 'FATAL' || isReadOnly(error);
