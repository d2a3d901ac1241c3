import { Lanes } from '../lib/lanes.ts';
import { type Database, type Scope, usualWaits } from './connection.ts';

/**
 * The same database, of which no partner's transactions ever have all connections, however many come and however long
 * they take. What waits for its partner's others holds none, and fails as unreachable when it waits as long as anything
 * may for a connection.
 *
 * @param most how many transactions of one partner run at once. Transactions do not wait for each other: so none may
 * begin inside another
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
