import type { Connections, Database } from './connection.ts';

/**
 * The connections of a process by who uses them. Whoever waits for one waits for its like alone: pages that are hammered and
 * loops that have much to do leave the API its own.
 */
export type Pools = { api: Database; pages: Database; loops: Database; close(): Promise<void> };

/** Creates and the gate are the service's; together with those that listen for changes, a node has up to 27. */
const connections = {
  api: { service: 8, scoped: 4 },
  pages: { service: 3, scoped: 4 },
  loops: { service: 4, scoped: 2 },
};

/** @param open makes pools of so many connections at most; none is made before it is needed */
export function openPools(open: (most: Connections) => Database): Pools {
  const [api, pages, loops] = [open(connections.api), open(connections.pages), open(connections.loops)];
  return {
    ...{ api, pages, loops },
    close: async () => {
      await Promise.all([api.close(), pages.close(), loops.close()]);
    },
  };
}
