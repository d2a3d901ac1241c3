import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A second RPC endpoint that passes everything on to a chain. It can be down, deny what it knows, return receipts
 * without their logs, or never answer.
 */
export async function secondEndpoint() {
  const endpoint = {
    target: '',
    mode: 'honest' as 'honest' | 'away' | 'denies' | 'empties' | 'silent',
    receiptsAsked: 0,
  };
  const server = createServer(async (request, response) => {
    if (endpoint.mode === 'away') return request.socket.destroy();
    if (endpoint.mode === 'silent') return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { id, method } = JSON.parse(body) as { id: number; method: string };
    response.setHeader('content-type', 'application/json');
    if (method === 'eth_getTransactionReceipt') endpoint.receiptsAsked++;
    if (endpoint.mode === 'denies' && method === 'eth_getTransactionReceipt') {
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: null }));
    }
    const answer = await fetch(endpoint.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (endpoint.mode === 'empties' && method === 'eth_getTransactionReceipt') {
      const { result } = (await answer.json()) as { result: object };
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { ...result, logs: [] } }));
    }
    return response.end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
