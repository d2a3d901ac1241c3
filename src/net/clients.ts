import { type buildConnector, Client } from 'undici';
import { minuteMs } from '../lib/durations.ts';

/** One connection at most, which is opened anew when it is needed again. */
export type Kept = { readonly client: Client; readonly origin: string; isConnected: boolean };

/**
 * Connections that are kept between POSTs, of which each carries one at a time. The one that was used last is used
 * next, so there are no more of them than POSTs at once. undici's own pool looks through all of them at each POST.
 */
export function makeClients(connect: buildConnector.connector) {
  const idle = new Map<string, Kept[]>();
  const all = new Set<Kept>();
  let isClosed = false;

  const drop = (kept: Kept) => {
    if (!all.delete(kept)) return;
    const others = idle.get(kept.origin);
    const at = others?.indexOf(kept) ?? -1;
    if (at >= 0) others?.splice(at, 1);
    if (others?.length === 0) idle.delete(kept.origin);
    kept.client.destroy();
  };

  const open = (origin: string): Kept => {
    const client = new Client(origin, {
      connect,
      pipelining: 1,
      keepAliveTimeout: 10_000,
      keepAliveMaxTimeout: minuteMs,
      headersTimeout: 0, // each POST has its own clock
      bodyTimeout: 0,
    });
    const kept = { client, origin, isConnected: false };
    client.on('connect', () => {
      kept.isConnected = true;
    });
    client.on('disconnect', () => {
      kept.isConnected = false;
      if (idle.get(origin)?.includes(kept)) drop(kept);
    });
    all.add(kept);
    if (isClosed) drop(kept);
    return kept;
  };

  return {
    /** A connection that nobody uses. */
    take: (origin: string): Kept => idle.get(origin)?.pop() ?? open(origin),
    /** Keeps a connection whose answer was read to its end. */
    giveBack: (kept: Kept): void => {
      const others = idle.get(kept.origin);
      if (!kept.isConnected) drop(kept);
      else if (others) others.push(kept);
      else idle.set(kept.origin, [kept]);
    },
    /** Ends a connection, and what is under way on it. */
    drop,
    /** Ends all of them, waiting for nothing. Whoever takes one later has an error. */
    close: (): void => {
      isClosed = true;
      for (const kept of [...all]) drop(kept);
    },
  };
}

export type Clients = ReturnType<typeof makeClients>;
