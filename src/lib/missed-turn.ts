/** Of work that waited too long for its turn: unreachable, as what waits too long for a connection. */
export const missedTurn = (): Error =>
  Object.assign(new Error('it was not its turn in time'), { code: 'CONNECTION_TIMEOUT' });
