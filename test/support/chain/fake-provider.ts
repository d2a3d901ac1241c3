import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Answer = { result?: unknown; error?: { code: number; message: string } };
/** Changes a provider's answer: to another answer, to an HTTP status, or to no answer at all. */
export type Lie = (call: {
  method: string;
  params: unknown[];
  /** The answer of the real chain. */
  ask: (method: string, params: unknown[]) => Promise<unknown>;
}) => Promise<Answer | { status: number; retryAfter?: string } | 'hang up' | null>;

/** An RPC endpoint in front of a real chain that passes everything on, except for the configured lie. */
export async function fakeProvider(target: string) {
  const fake = { lie: (async () => null) as Lie, calls: new Map<string, number>() };
  const pass = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    return (await (await fetch(target, { method: 'POST', headers, body })).json()) as Answer;
  };
  const ask = async (method: string, params: unknown[]) => {
    const answer = await pass(method, params);
    if (answer.error) throw new Error(answer.error.message);
    return answer.result;
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString());
    fake.calls.set(method, (fake.calls.get(method) ?? 0) + 1);
    const lie = await fake.lie({ method, params, ask });
    if (lie === 'hang up') return request.socket.destroy();
    if (lie && 'status' in lie) {
      if (lie.retryAfter) response.setHeader('retry-after', lie.retryAfter);
      return response.writeHead(lie.status).end('no');
    }
    const answer = lie ?? (await pass(method, params));
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    fake,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
