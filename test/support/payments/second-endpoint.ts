import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Call = { id: number; method: string; params: unknown[] };

/**
 * A second RPC endpoint that passes everything on to a chain. It can be down, deny what it knows, return receipts
 * without their logs, be far behind with its newest block, or never answer.
 */
export async function secondEndpoint() {
  const endpoint = {
    target: '',
    mode: 'honest' as 'honest' | 'away' | 'denies' | 'empties' | 'behind' | 'silent',
    receiptsAsked: 0,
  };
  const tell = async (call: Call): Promise<object> => {
    const isReceipt = call.method === 'eth_getTransactionReceipt';
    if (isReceipt) endpoint.receiptsAsked++;
    if (endpoint.mode === 'denies' && isReceipt) return { jsonrpc: '2.0', id: call.id, result: null };
    const headers = { 'content-type': 'application/json' };
    const isBehind =
      endpoint.mode === 'behind' && call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest';
    const body = JSON.stringify(isBehind ? { ...call, params: ['0x1', false] } : call);
    const answer = await fetch(endpoint.target, { method: 'POST', headers, body });
    const told = (await answer.json()) as { result: object };
    return endpoint.mode === 'empties' && isReceipt ? { ...told, result: { ...told.result, logs: [] } } : told;
  };
  const server = createServer(async (request, response) => {
    if (endpoint.mode === 'away') return request.socket.destroy();
    if (endpoint.mode === 'silent') return;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const said = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    response.setHeader('content-type', 'application/json');
    const answers = await Promise.all([said].flat().map(tell));
    return response.end(JSON.stringify(Array.isArray(said) ? answers : answers[0]));
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
