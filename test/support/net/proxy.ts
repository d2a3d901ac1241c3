import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `silent`: no data arrives any more, and there is no error. `hang up`: new connections are closed at once. */
type Manner = 'forward' | 'silent' | 'hang up';

/** A network that fails on demand, between a client and the real server. */
export type Proxy = {
  url: string;
  behave(manner: Manner): void;
  /** All that was lost because it was silent. */
  swallowed(): string;
  /** Ends its connections; new ones are made. */
  disconnect(): void;
  /** Connects new connections to another server. */
  lead(target: string): void;
  close(): void;
};

/** Listens in front of the server of a URL: on a free loopback port, or at a given address. */
export async function startProxy(target: string, at = { host: '127.0.0.1', port: 0 }): Promise<Proxy> {
  let { hostname, port } = new URL(target);
  const ends = new Set<Socket>();
  let manner: Manner = 'forward';
  let swallowed = '';
  const passOn = (from: Socket, to: Socket) => {
    ends.add(from);
    from.on('data', (bytes) => {
      if (manner === 'silent') swallowed += bytes.toString();
      else to.write(bytes);
    });
    from.on('error', () => from.destroy()); // its `close` ends the other side
    from.on('close', () => {
      ends.delete(from);
      to.destroy();
    });
  };
  const server = createServer((near) => {
    if (manner === 'hang up') return near.destroy();
    const far = connect(Number(port), hostname);
    passOn(near, far);
    passOn(far, near);
  });
  server.listen(at.port, at.host);
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  const disconnect = () => {
    for (const end of ends) end.destroy();
  };
  return {
    url: url.href,
    behave: (next) => {
      manner = next;
    },
    swallowed: () => swallowed,
    disconnect,
    lead: (next) => {
      ({ hostname, port } = new URL(next));
    },
    close: () => {
      server.close();
      disconnect();
    },
  };
}
