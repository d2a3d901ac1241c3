import { type Connections, type Database, usualWaits } from './connection.ts';
import { limitConnectionsPerPartner } from './partner-connections.ts';
import type { Pool, Waits } from './pool.ts';

/**
 * The connections of a process, separated by use, so that heavy page traffic and busy loops cannot take the API's
 * connections, and loops that wait for a locked table cannot take those of deliveries.
 */
export type Pools = Record<keyof typeof connections, Database> & {
  /** Each of them. */
  all: readonly Database[];
  close(): Promise<void>;
};

/**
 * The gate and the statement that creates use the service login. Together with the connections that listen for changes,
 * a node has up to 32.
 */
const connections = {
  api: { service: 8, scoped: 4 },
  pages: { service: 3, scoped: 5 },
  loops: { service: 4, scoped: 3 },
  deliveries: { service: 2, scoped: 1 },
};

/**
 * Loops share few connections. One that waits for a lock gives its connection to the others after this time, and tries
 * again in its next run. It is longer than the second after which the server looks for deadlocks.
 */
const loopWaits: Waits = { ...usualWaits, lock: 1.5 };

/**
 * Makes a pool with at most this many connections; none is opened before it is needed.
 *
 * @param listen if given, receives the pool's notifications over another pool's connection
 */
type OpenPool = (connections: Connections, waits: Waits, listen?: Pool['listen']) => Database;

/** @param readsApart whether each pool also has as many connections to a standby, for transactions that only read */
export function openPools(open: OpenPool, readsApart: boolean): Pools {
  const api = open(connections.api, usualWaits);
  // The users, exports and customers of a few partners always leave a connection to the others. Calls of the API have
  // shares by key.
  const pages = limitConnectionsPerPartner(open(connections.pages, usualWaits), connections.pages.scoped, readsApart);
  const loops = open(connections.loops, loopWaits);
  // A process listens once for all its loops.
  const deliveries = open(connections.deliveries, usualWaits, loops.sql.listen);
  const all = [api, pages, loops, deliveries];
  return {
    ...{ api, pages, loops, deliveries, all },
    close: async () => {
      await Promise.all(all.map((pool) => pool.close()));
    },
  };
}
