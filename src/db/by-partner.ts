import { Lanes } from '../lib/lanes.ts';
import { type Database, type Scope, usualWaits } from './connection.ts';

/**
 * The same database, but no partner's transactions can use all connections, however many there are and however long
 * they take. A transaction that waits for others of its partner holds none, and fails as unreachable after the longest
 * wait for a connection.
 *
 * @param most how many transactions of one partner run at once. None may begin inside another, because both would need
 * a turn
 */
export function limitPartners(db: Database, most: number): Database {
  const lanes = new Lanes(most, usualWaits.queue * 1000);
  const inTurn = <T>({ partnerId }: Scope, run: () => Promise<T>) => lanes.run(partnerId, run);
  return {
    ...db,
    scoped: (scope, work) => inTurn(scope, () => db.scoped(scope, work)),
    reading: (scope, work) => inTurn(scope, () => db.reading(scope, work)),
    read: (scope, ask) => inTurn(scope, () => db.read(scope, ask)),
  };
}
