import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { selfSigned } from './self-signed.ts';

/** A POST as it arrived. */
export type Received = { path: string; headers: IncomingHttpHeaders; body: string; delivery: string };

/** How a receiver answers: with a status, or with anything a server can do wrong. */
export type Behaviour = (response: ServerResponse, received: Received, count: number) => void;

export const behaviours = {
  status:
    (status: number, headers: Record<string, string> = {}): Behaviour =>
    (response) =>
      void response.writeHead(status, headers).end(),
  /** Accepts the request and never answers. */
  hang: (): void => {},
  /** Drops the connection without an answer. */
  reset: ((response) => void (response.socket as Socket).resetAndDestroy()) as Behaviour,
  /** Answers 200 at once, then never ends its body. */
  endlessBody: ((response) => void response.writeHead(200).write('still going')) as Behaviour,
  /** Answers with more than anyone wants to read. */
  hugeBody: ((response) => void response.writeHead(200).end('x'.repeat(1_000_000))) as Behaviour,
  /** Not HTTP. */
  nonsense: ((response) => void response.socket?.end('hello\r\n\r\n')) as Behaviour,
};

export type Receiver = {
  url: string;
  port: number;
  received: Received[];
  behave(behaviour: Behaviour): void;
  /** Requests that it has received but not answered. */
  open(): number;
  maxOpen(): number;
  close(): Promise<void>;
};

/** A real webhook receiver on loopback; it answers 200 until told otherwise. */
export async function startReceiver(options: { secure?: boolean; behave?: Behaviour } = {}): Promise<Receiver> {
  let behaviour = options.behave ?? behaviours.status(200);
  const received: Received[] = [];
  let open = 0;
  let maxOpen = 0;
  const listener: RequestListener = (request, response) => {
    open++;
    maxOpen = Math.max(maxOpen, open);
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const post = {
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks).toString('utf8'),
        delivery: String(request.headers['x-service-delivery']),
      };
      received.push(post);
      behaviour(response, post, received.length);
    });
  };
  const server = options.secure ? createSecureServer(selfSigned, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.secure ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    behave: (next) => {
      behaviour = next;
    },
    open: () => open,
    maxOpen: () => maxOpen,
    close: () =>
      new Promise((resolve) => {
        // `close` would wait for a connection that arrives after the others were closed.
        server.on('connection', (socket) => socket.destroy());
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
