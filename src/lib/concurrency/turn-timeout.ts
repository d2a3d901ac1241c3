/** The error of work that waited too long for its turn. It counts as unreachable, like a wait for a connection. */
export const turnTimeout = (): Error =>
  Object.assign(new Error('it was not its turn in time'), { code: 'CONNECTION_TIMEOUT' });
