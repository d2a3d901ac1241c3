import { type Step, traced } from '../lib/trace.ts';
import { type Hex, RpcError } from './rpc-answers.ts';
import { withoutSecrets } from './without-secrets.ts';

export const defaultTimeoutMs = 5_000;
/** No honest answer to our calls comes near this size; a range of logs that does is requested in smaller ranges. */
const maxResponseBytes = 32 * 1024 * 1024;

let nextId = 1;

/**
 * The chain that each endpoint belongs to, for traces. An endpoint's address may contain a key, so it is never shown.
 */
const chainOfEndpoint = new Map<string, number>();

/** Sets which chain traces name for calls to these endpoints. */
export function nameEndpoints(chains: readonly { chainId: number; rpcUrls: readonly string[] }[]): void {
  for (const { chainId, rpcUrls } of chains) for (const url of rpcUrls) chainOfEndpoint.set(url, chainId);
}

const stepOf = (url: string, method: string): Step => ({
  name: method,
  kind: 'client',
  attributes: {
    'rpc.system.name': 'jsonrpc',
    'rpc.method': method,
    'quittance.chain_id': chainOfEndpoint.get(url) ?? 0,
  },
});

type Call = { method: string; params: readonly unknown[] };
type Answer = { id?: unknown; result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } } | null;

/**
 * One JSON-RPC call.
 *
 * @returns the raw `result`; the readers of `rpc-answers.ts` check its shape
 * @throws RpcError
 */
export const callRpc = (
  url: string,
  method: string,
  params: readonly unknown[],
  timeoutMs = defaultTimeoutMs,
  maxBytes = maxResponseBytes,
): Promise<unknown> =>
  traced(
    () => stepOf(url, method),
    async () => {
      const where = `${method} at ${new URL(url).host}`;
      const asked = { jsonrpc: '2.0', id: nextId++, method, params };
      return readAnswer((await post(url, asked, where, timeoutMs, maxBytes)) as Answer, where, url);
    },
  );

/** For each call in a message: the raw `result`, or why there is none. */
export type BatchAnswer = { result: unknown } | { error: RpcError };

/**
 * Several calls in one message.
 *
 * @returns in the order of the calls, however the provider orders its answers
 * @throws RpcError if the message as a whole gets no answer
 */
export const callBatch = (
  url: string,
  calls: readonly Call[],
  timeoutMs = defaultTimeoutMs,
  maxBytes = maxResponseBytes,
): Promise<BatchAnswer[]> =>
  traced(
    () => stepOf(url, 'batch'),
    async () => {
      const where = `${calls.length} calls at ${new URL(url).host}`;
      const asked = calls.map((call) => ({ jsonrpc: '2.0', id: nextId++, ...call }));
      const answer = await post(url, asked, where, timeoutMs, maxBytes);
      if (!Array.isArray(answer)) {
        readAnswer(answer as Answer, where, url); // throws what the provider says about it
        throw new RpcError('malformed', `${where}: one answer to several calls`);
      }
      const byId = new Map((answer as Answer[]).map((one) => [textOf(one?.id), one]));
      return asked.map(({ id, method }) => readOne(byId.get(String(id)) ?? null, `${method} in ${where}`, url));
    },
  );

function readOne(answer: Answer, where: string, url: string): BatchAnswer {
  try {
    return { result: readAnswer(answer, where, url) };
  } catch (error) {
    if (error instanceof RpcError) return { error };
    throw error;
  }
}

async function post(
  url: string,
  message: unknown,
  where: string,
  timeoutMs: number,
  maxBytes: number,
): Promise<unknown> {
  const target = new URL(url);
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (target.username) {
    const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
    target.username = '';
    target.password = '';
  }
  const body = JSON.stringify(message);
  const signal = AbortSignal.timeout(timeoutMs); // throws where that is not a whole number
  let status: number;
  let text: string;
  let retryAfter: string | null;
  try {
    const response = await fetch(target, { method: 'POST', headers, body, redirect: 'error', signal });
    status = response.status;
    retryAfter = response.headers.get('retry-after');
    text = await readBody(response, where, maxBytes);
  } catch (error) {
    if (error instanceof RpcError) throw error;
    if ((error as Error).name === 'TimeoutError')
      throw new RpcError('timeout', `${where}: no answer in ${timeoutMs} ms`);
    throw new RpcError('unreachable', `${where}: ${reasonOf(error)}`);
  }
  if (status === 429) {
    const seconds = Number(retryAfter);
    throw new RpcError('limited', `${where}: too many calls`, seconds > 0 ? Math.min(seconds, 60) * 1000 : null);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new RpcError('malformed', `${where}: status ${status} without JSON`);
  }
}

function reasonOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  return cause?.code ?? cause?.message ?? (error as Error).message;
}

async function readBody(response: Response, where: string, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RpcError('too_large', `${where}: more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function readAnswer(answer: Answer, where: string, url: string): unknown {
  if (answer?.error) {
    const code = textOf(answer.error.code);
    const message = withoutSecrets(textOf(answer.error.message), url);
    // -32005 means "limit exceeded": the number of calls at some providers, the size of the answer at others.
    const tooMany = code === '429' || (code === '-32005' && /rate|per second|too many requests/i.test(message));
    const kind = tooMany ? 'limited' : 'refused';
    const short = message.slice(0, 300);
    throw new RpcError(kind, `${where}: ${code} ${short}`, null, {
      code: typeof answer.error.code === 'number' ? answer.error.code : null,
      message: short,
      data: revertData(answer.error.data),
    });
  }
  if (typeof answer !== 'object' || answer === null || answer.result === undefined) {
    throw new RpcError('malformed', `${where}: no result`);
  }
  return answer.result;
}

/** A provider may send any JSON here, and not every value of it can be converted to text. */
const textOf = (value: unknown): string => (typeof value === 'object' ? 'an object' : String(value));

/** Some providers wrap the bytes in an object. */
function revertData(data: unknown): Hex | null {
  const bytes = typeof data === 'object' && data !== null ? (data as { data?: unknown }).data : data;
  return typeof bytes === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(bytes) ? (bytes.toLowerCase() as Hex) : null;
}
