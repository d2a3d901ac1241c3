import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Call = { id: number; method: string; params: unknown[] };
type Answer = { result?: unknown; error?: { code: number; message: string } };
/** Changes a provider's answer: to another answer, to an HTTP status, or to no answer at all. */
export type Lie = (call: {
  method: string;
  params: unknown[];
  /** The answer of the real chain. */
  ask: (method: string, params: unknown[]) => Promise<unknown>;
}) => Promise<Answer | { status: number; retryAfter?: string } | 'hang up' | null>;

const isAboutTransactions = (method: string, params: unknown[]) =>
  /^eth_get(Transaction|BlockReceipts)/.test(method) || (method === 'eth_getBlockByNumber' && params[1] === true);

/** The real chain answered with an error. What an endpoint says instead cannot be made of it, so it says the same. */
class ChainError extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.error?.message);
    this.answer = answer;
  }
}

function sayTheSame(error: unknown): Answer {
  if (error instanceof ChainError) return error.answer;
  throw error;
}

/** An RPC endpoint in front of a real chain that passes everything on, except for the configured lie. */
export async function fakeProvider(target: string) {
  const fake = {
    lie: (async () => null) as Lie,
    calls: new Map<string, number>(),
    /** Messages that asked for transactions or receipts. */
    transactionMessages: 0,
    /** Changes the answers to a batch. */
    batch: (answers: object[]): unknown => answers,
  };
  const pass = async (method: string, params: unknown[]) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    return (await (await fetch(target, { method: 'POST', headers, body })).json()) as Answer;
  };
  const ask = async (method: string, params: unknown[]) => {
    const answer = await pass(method, params);
    if (answer.error) throw new ChainError(answer);
    return answer.result;
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (chunks.length === 0) return request.socket.destroy(); // the caller has given up
    const said = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const answers: object[] = [];
    if ([said].flat().some(({ method, params }) => isAboutTransactions(method, params))) fake.transactionMessages++;
    for (const { id, method, params } of [said].flat()) {
      fake.calls.set(method, (fake.calls.get(method) ?? 0) + 1);
      const lie = await fake.lie({ method, params, ask }).catch(sayTheSame);
      // One call of a batch is enough to lose the whole batch.
      if (lie === 'hang up') return request.socket.destroy();
      if (lie && 'status' in lie) {
        if (lie.retryAfter) response.setHeader('retry-after', lie.retryAfter);
        return response.writeHead(lie.status).end('no');
      }
      answers.push({ jsonrpc: '2.0', ...(lie ?? (await pass(method, params))), id });
    }
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(Array.isArray(said) ? fake.batch(answers) : answers[0]));
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
