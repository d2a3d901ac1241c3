import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Context } from '../context.ts';
import type { Scope } from '../db/connection.ts';
import { freePort } from '../lib/ports.ts';
import { printable } from '../lib/text/printable.ts';
import { readEndpoint, restoreUrl, setUrl } from '../webhooks/endpoint.ts';
import { verifySignature } from '../webhooks/sign.ts';
import { commandLine } from './actor.ts';

export type EventListenOptions = {
  /** How many events to receive before it ends. */
  count: number;
  json: boolean;
  /** Prints an event. */
  print(line: string): void;
  /** Prints a remark for people. */
  note(line: string): void;
  /** Ends listening, like the signals of the system. */
  signal?: AbortSignal;
};

const maxBodyBytes = 1_000_000;

/** Also that of a terminal which is closed: events would go on to a port where nothing listens any more. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Receives a partner's events on a loopback port of this machine and prints them, until a signal, until it has
 * received `count`, or until nobody reads them. Meanwhile the endpoint's URL points here; it is restored at the end. A
 * request without a valid signature gets 400 and is neither printed nor counted, because any program on this machine
 * can post here.
 *
 * @returns how many events were received
 * @throws Error with a sentence if the endpoint's URL may not be a loopback address, or if no key decrypts its secret
 */
export async function listen(ctx: Context, scope: Scope, options: EventListenOptions): Promise<{ received: number }> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const earlier = (await readEndpoint(ctx, scope))?.url ?? null;
  const stop = stopSignal(options.signal);
  let received = 0;

  const take = async (request: IncomingMessage): Promise<number> => {
    const body = await readBody(request);
    if (body === null) return 413;
    const secret = (await readEndpoint(ctx, scope))?.secret ?? '';
    const header = request.headers['x-service-signature'];
    // The time of a signature is the database's. Asked for anew, because this machine may have slept.
    const [{ now } = { now: new Date(0) }] = await ctx.db.sql<{ now: Date }[]>`select clock_timestamp() as now`;
    if (!verifySignature(secret, typeof header === 'string' ? header : undefined, body, now)) {
      options.note('Rejected: the signature is missing, wrong or older than 300 seconds.');
      return 400;
    }
    if (received >= options.count) return 503; // it is retried, at the restored URL
    received++;
    options.print(options.json ? showJson(body) : show(body, now));
    if (received >= options.count) stop.now();
    return 200;
  };
  const server = createServer((request, response) => {
    take(request).then(
      (status) => response.writeHead(status).end(),
      (error: Error) => {
        options.note(printable(`An event could not be read: ${error.message}`));
        response.writeHead(500).end();
      },
    );
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  try {
    if ((await setUrl(ctx, commandLine, scope, url)).secret === null)
      throw new Error('No key in SECRET_KEYS decrypts the signing secret: run webhook rotate, then webhook activate.');
    options.note(`Listening for events at ${url}${earlier ? ` instead of ${earlier}` : ''}; stop with Ctrl-C.`);
    await stop.wait;
  } finally {
    stop.forget();
    await restoreUrl(ctx, commandLine, scope, url, earlier);
    await closeServer(server);
  }
  return { received };
}

function stopSignal(signal: AbortSignal | undefined) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const now = () => resolve();
  if (signal?.aborted) now();
  for (const name of signals) process.on(name, now);
  signal?.addEventListener('abort', now, { once: true });
  process.stdout.on('error', now); // nobody reads what is printed
  const forget = () => {
    process.stdout.off('error', now);
    for (const name of signals) process.off(name, now);
    signal?.removeEventListener('abort', now);
  };
  return { wait: promise, now, forget };
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// The body is one object on one line. Parsing it would move keys that look like integers.
/** An event for programs: its body, with `signature` added. */
const showJson = (body: Buffer): string => printable(`${body.toString('utf8').slice(0, -1)},"signature":"valid"}`);

/** An event for people: a short line. */
function show(body: Buffer, now: Date): string {
  const { event, request_id, tx_hash } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  return printable(`${now.toISOString()}  ${event}  request ${request_id}  tx ${tx_hash}  signature valid`);
}

/** Closes the server once responses in progress are sent, or after half a second. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), 500).unref();
  });
}
