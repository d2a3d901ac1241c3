import type { FastifyReply } from 'fastify';
import { formatFiat } from '../../lib/money.ts';
import type { Checkout } from '../read.ts';
import { type PaymentRequired, type Requirements, type Settlement, x402Version } from './contract.ts';
import { requestObject } from './request-object.ts';
import { describe } from './rules.ts';

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');

/** Sends JSON to a program, at an address where browsers get a page. */
function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/**
 * Sends an expected failure that another signature cannot fix: clients of x402 pass on every status except 402
 * unchanged.
 */
export function sendFault(
  reply: FastifyReply,
  status: number,
  error: string,
  message: string,
  checkout: Checkout | null = null,
): FastifyReply {
  return sendJson(reply, status, { ok: false, error, message, ...(checkout && requestObject(checkout)) });
}

/** Sends the request with the state of its payment, and the result of a payment that the call brought. */
export function sendRequest(
  reply: FastifyReply,
  status: number,
  checkout: Checkout,
  message: string,
  settlement: Settlement | null = null,
): FastifyReply {
  if (settlement) reply.header('payment-response', base64(settlement));
  return sendJson(reply, status, { ok: true, message, ...requestObject(checkout) });
}

/**
 * Sends 402: how the request can be paid.
 *
 * @param error a sentence, or the x402 code for why a payment was refused
 * @param settlement the result of a payment that was sent and failed
 */
export function sendPaymentRequired(
  reply: FastifyReply,
  checkout: Checkout,
  offers: readonly Requirements[],
  { error, message, settlement = null }: { error: string; message: string; settlement?: Settlement | null },
): FastifyReply {
  const required: PaymentRequired = {
    x402Version,
    error,
    resource: { url: checkout.url, description: descriptionOf(checkout), mimeType: 'application/json' },
    accepts: [...offers],
  };
  reply.header('payment-required', base64(required));
  if (settlement) reply.header('payment-response', base64(settlement));
  return sendJson(reply, 402, { ...required, ok: false, message, ...requestObject(checkout) });
}

function descriptionOf({ merchant, row }: Checkout): string {
  return describe({ payee: merchant, fiat: formatFiat(BigInt(row.fiat_int), row.fiat_code, 'en'), memo: row.memo });
}
