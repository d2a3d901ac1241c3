import { type buildConnector, Client } from 'undici';
import { minuteMs } from '../lib/durations.ts';

/** An undici client with at most one connection, which it opens again when needed. */
export type Kept = { readonly client: Client; readonly origin: string; isConnected: boolean };

/**
 * Keeps connections open between POSTs. Each carries one POST at a time. The connection that was used last is used
 * next, so connections that are not needed become idle and close. undici's own pool would search through all
 * connections at each POST.
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
      headersTimeout: 0, // each POST has its own timeout
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
    /** An idle connection, or a new one. */
    take: (origin: string): Kept => idle.get(origin)?.pop() ?? open(origin),
    /** Keeps a connection for the next POST. Its response must have been read to the end. */
    giveBack: (kept: Kept): void => {
      const others = idle.get(kept.origin);
      if (!kept.isConnected) drop(kept);
      else if (others) others.push(kept);
      else idle.set(kept.origin, [kept]);
    },
    /** Closes a connection; a POST in progress on it fails. */
    drop,
    /** Closes all connections at once. A POST that takes one later fails. */
    close: (): void => {
      isClosed = true;
      for (const kept of [...all]) drop(kept);
    },
  };
}

export type Clients = ReturnType<typeof makeClients>;
