import { Lanes } from '../lib/concurrency/lanes.ts';
import { type Database, usualWaits } from './connection.ts';

/**
 * The same database, with a limit for each partner: its transactions cannot use all connections, however many they are
 * and however long they take. Even three partners whose transactions never end leave one connection. The next
 * connection goes to the partner that has fewest. A transaction that waits for its turn holds no connection. It fails
 * as unreachable after the longest wait for a connection. No transaction may begin inside another, because both would
 * need a turn.
 *
 * @param connections how many connections there are
 * @param readsApart whether there are as many connections to a standby, for transactions that only read
 */
export function limitConnectionsPerPartner(db: Database, connections: number, readsApart: boolean): Database {
  const makeLanes = () => new Lanes(Math.floor(connections / 2), connections, usualWaits.queue * 1000);
  const lanes = makeLanes();
  const readers = readsApart ? makeLanes() : lanes;
  return {
    ...db,
    scoped: (scope, work) => lanes.run(scope.partnerId, () => db.scoped(scope, work)),
    reading: (scope, work) => readers.run(scope.partnerId, () => db.reading(scope, work)),
    read: (scope, ask) => readers.run(scope.partnerId, () => db.read(scope, ask)),
    readPrimary: (scope, ask) => lanes.run(scope.partnerId, () => db.readPrimary(scope, ask)),
  };
}
