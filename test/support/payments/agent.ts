import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../../../src/chain/rpc.ts';
import type { PaymentRequired, Requirements, Settlement } from '../../../src/checkout/agents/contract.ts';

/** The response to a program's request for a pay link. */
export type AgentAnswer = {
  status: number;
  headers: Headers;
  json: Record<string, unknown> & { error: string; message: string; status: string; proof_status: string };
  required: PaymentRequired | null;
  settlement: Settlement | null;
};

const json = { accept: 'application/json' };
const decode = <T>(text: string | null): T | null =>
  text === null ? null : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as T);

async function toAnswer(response: Response): Promise<AgentAnswer> {
  const { status, headers } = response;
  return {
    status,
    headers,
    json: (await response.json()) as AgentAnswer['json'],
    required: decode(headers.get('payment-required')),
    settlement: decode(headers.get('payment-response')),
  };
}

/** Requests a pay link as a program, with further headers. */
export async function ask(url: string, headers: Record<string, string> = {}): Promise<AgentAnswer> {
  return toAnswer(await fetch(url, { headers: { ...json, ...headers } }));
}

/** Pays with a header, which it sends again while it is not mined, as clients do. Each answer waits up to 20 s. */
export async function askUntilMined(url: string, header: Record<string, string>): Promise<AgentAnswer> {
  const most = 5;
  let answer = await ask(url, header);
  for (let asked = 1; asked < most && answer.settlement?.errorReason === 'settlement_pending'; asked++) {
    answer = await ask(url, header);
  }
  return answer;
}

/** The client of x402 from npm, which signs whatever it is asked for with a key. */
export function agentOf(privateKey: Hex) {
  const client = new x402Client()
    .register('eip155:*', new ExactEvmScheme(privateKeyToAccount(privateKey)))
    .setSpendControls(false);
  const fetchWithPayment = wrapFetchWithPayment(fetch, client);
  const http = new x402HTTPClient(client);
  return {
    /** Asks, signs and pays, as `@x402/fetch` does by itself. */
    pay: async (url: string): Promise<AgentAnswer> => toAnswer(await fetchWithPayment(url, { headers: json })),
    /** Signs what a link asks for, changed by the test, and returns the header that pays it. */
    sign: async (required: PaymentRequired, change: Partial<Requirements> = {}): Promise<Record<string, string>> => {
      const accepts = required.accepts.map((one) => ({ ...one, ...change }));
      return http.encodePaymentSignatureHeader(await client.createPaymentPayload({ ...required, accepts }));
    },
  };
}
