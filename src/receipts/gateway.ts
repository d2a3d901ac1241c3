import type { PhoneGateway } from '../config.ts';
import { createPoster } from '../net/post.ts';

/** A message to a phone; `id` is the same at each attempt. */
export type Message = { id: string; to: string; text: string };

/** `refused`: the gateway will never accept this message. `failed`: it may accept it later. */
export type GatewayAnswer = { kind: 'taken' } | { kind: 'refused' | 'failed'; why: string };

export type Gateway = {
  send(message: Message): Promise<GatewayAnswer>;
  close(): Promise<void>;
};

const timeoutMs = 8000;
/** Statuses with which a gateway says that something is wrong with the message itself. */
const refusals = [400, 410, 422];

/**
 * The operator's gateway: each message is a POST of `{"id","to","text"}` with a bearer token and an `idempotency-key`;
 * any 2xx within 8 seconds accepts it. Redirects are not followed. Unlike webhook URLs, its address is the operator's
 * own choice, so it may be in a private network.
 */
export function openGateway({ url, token }: PhoneGateway): Gateway {
  const poster = createPoster({ allowCidrs: ['0.0.0.0/0', '::/0'], plainHttp: true }, { timeoutMs });
  return {
    send: async ({ id, to, text }) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'idempotency-key': id,
      };
      const outcome = await poster.post(url, headers, JSON.stringify({ id, to, text }));
      if ('error' in outcome) return { kind: 'failed', why: outcome.error };
      const { statusCode } = outcome;
      if (statusCode >= 200 && statusCode < 300) return { kind: 'taken' };
      return { kind: refusals.includes(statusCode) ? 'refused' : 'failed', why: `it answered ${statusCode}` };
    },
    close: () => poster.close(),
  };
}
