import type { Connections, Database } from './connection.ts';
import { limitConnectionsPerPartner } from './partner-connections.ts';

/**
 * The connections of a process, separated by use, so that heavy page traffic and busy loops cannot take the API's
 * connections, and loops that wait for a locked table cannot take those of deliveries.
 */
export type Pools = { api: Database; pages: Database; loops: Database; deliveries: Database; close(): Promise<void> };

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
 * @param open makes pools with at most this many connections; none is opened before it is needed
 * @param readsApart whether each pool also has as many connections to a standby, for transactions that only read
 */
export function openPools(open: (connections: Connections) => Database, readsApart: boolean): Pools {
  const [api, pages, loops] = [open(connections.api), open(connections.pages), open(connections.loops)];
  const deliveries = open(connections.deliveries);
  // A process listens once for all its loops.
  deliveries.sql.listen = loops.sql.listen;
  return {
    ...{ api, loops, deliveries },
    // The users, exports and customers of a few partners always leave a connection to the others. Calls of the API have
    // shares by key.
    pages: limitConnectionsPerPartner(pages, connections.pages.scoped, readsApart),
    close: async () => {
      await Promise.all([api, pages, loops, deliveries].map((pool) => pool.close()));
    },
  };
}
