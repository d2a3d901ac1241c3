import type { Database } from './connection.ts';

/**
 * The connections of a process by who uses them. Whoever waits for one waits for its like alone: pages that are hammered and
 * loops that have much to do leave the API its own.
 */
export type Pools = { api: Database; pages: Database; loops: Database; close(): Promise<void> };

/** Together with those that listen for changes, a node has up to 18. */
const connections = { api: 8, pages: 4, loops: 4 };

/** @param open makes a pool of so many connections at most; none is made before it is needed */
export function openPools(open: (most: number) => Database): Pools {
  const [api, pages, loops] = [open(connections.api), open(connections.pages), open(connections.loops)];
  return {
    ...{ api, pages, loops },
    close: async () => {
      await Promise.all([api.close(), pages.close(), loops.close()]);
    },
  };
}
