import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callRpc, toHex } from '../src/chain/rpc.ts';

type Call = { id: unknown; method: string; params: unknown[] };

/**
 * A proxy in front of anvil that shows a new block on demand, and serves its receipts from a recording: anvil takes 1 s
 * for the receipts of a block with 500 transactions and 3 s for 1,000, for which a provider's node takes some
 * hundredths of a second. All other calls pass.
 */
export type RecordingProxy = {
  url: string;
  /** Since the last `show`: calls, and the messages that they came in. */
  counts: { calls: number; messages: number };
  /** Records the newest block, and shows it from now on. */
  show(): Promise<void>;
  close(): Promise<void>;
};

/** Listens on a free loopback port in front of a local chain, and shows its newest block. */
export async function startRecordingProxy(target: string): Promise<RecordingProxy> {
  const counts = { calls: 0, messages: 0 };
  let head = '0x0';
  const receipts = new Map<unknown, unknown>();
  const answer = async ({ id, method, params }: Call) => {
    counts.calls++;
    if (method === 'eth_getBlockReceipts' && receipts.has(params[0]))
      return { jsonrpc: '2.0', id, result: receipts.get(params[0]) };
    const shown = params.map((one) => (one === 'latest' ? head : one));
    return { jsonrpc: '2.0', id, result: await callRpc(target, method, shown, 60_000) };
  };
  const server = createServer(async (incoming, outgoing) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const said = JSON.parse(Buffer.concat(parts).toString('utf8')) as Call | Call[];
    counts.messages++;
    outgoing.setHeader('content-type', 'application/json');
    try {
      const answers = await Promise.all([said].flat().map(answer));
      outgoing.end(JSON.stringify(Array.isArray(said) ? answers : answers[0]));
    } catch {
      outgoing.writeHead(502).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const show = async () => {
    const number = await callRpc(target, 'eth_blockNumber', []);
    const block = (await callRpc(target, 'eth_getBlockByNumber', [number, false])) as { hash: string };
    const told = await callRpc(target, 'eth_getBlockReceipts', [block.hash], 60_000);
    receipts.clear();
    receipts.set(block.hash, told);
    Object.assign(counts, { calls: 0, messages: 0 });
    head = toHex(Number(number));
  };
  await show();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    show,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
