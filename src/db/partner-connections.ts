import { Lanes } from '../lib/concurrency/lanes.ts';
import { type Database, usualWaits } from './connection.ts';

/**
 * The same database, but no partner's transactions can use all connections, however many there are and however long
 * they take: three partners whose transactions never end leave one. The next connection goes to the partner that has
 * fewest. A transaction that waits for its turn holds none, and fails as unreachable after the longest wait for a
 * connection. None may begin inside another, because both would need a turn.
 *
 * @param connections how many there are
 * @param readsApart whether as many others, to a standby, are there for what only reads
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
