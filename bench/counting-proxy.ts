import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of a provider that counts calls by method. */
export type CountingProxy = {
  url: string;
  calls: Map<string, number>;
  /** How many HTTP messages contained the calls. */
  messages: { count: number };
  close(): Promise<void>;
};

/** Listens on a free loopback port in front of a chain's endpoint. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const calls = new Map<string, number>();
  const messages = { count: 0 };
  const { hostname, port } = new URL(target);
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const said = JSON.parse(body.toString('utf8')) as { method: string } | { method: string }[];
    messages.count++;
    for (const { method } of [said].flat()) calls.set(method, (calls.get(method) ?? 0) + 1);
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const passed = httpRequest({ hostname, port, method: 'POST', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { 'content-type': 'application/json' });
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    passed.end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    messages,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
