import type { FastifyReply } from 'fastify';
import { formatFiat } from '../../lib/money.ts';
import type { Checkout } from '../read.ts';
import { type PaymentRequired, type Requirements, type Settlement, x402Version } from './contract.ts';
import { requestObject } from './request-object.ts';
import { describe } from './rules.ts';

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64');

/** JSON for a program, on an address where browsers get a page. */
export function sendJson(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}

/** An expected failure that no signature mends: clients of x402 hand any status but 402 on as it is. */
export function sendFault(
  reply: FastifyReply,
  status: number,
  error: string,
  message: string,
  checkout: Checkout | null = null,
): FastifyReply {
  return sendJson(reply, status, { ok: false, error, message, ...(checkout && requestObject(checkout)) });
}

/** The request with where its payment stands, and what came of a payment that was sent along. */
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
 * 402: how the request can be paid.
 *
 * @param error a sentence, or the code of x402 for why a payment was refused
 * @param settlement of a payment that was sent, and failed
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
