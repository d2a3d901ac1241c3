import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import { minuteMs } from '../../lib/durations.ts';
import { postLimits } from '../limits.ts';
import type { Checkout } from '../read.ts';
import { payable } from '../state.ts';
import { paymentHeaderOf } from './agent.ts';
import { sendFault, sendPaymentRequired, sendRequest } from './answers.ts';
import type { Settlement } from './contract.ts';
import { agentOffers } from './offers.ts';
import { readPaymentHeader } from './payment-header.ts';
import { type RefusalCode, refusalTexts } from './refusals.ts';
import { type Paid, type Payer, payByHeader } from './settle.ts';

/** Answers a program that requests a pay page. `checkout` null: there is no such request. */
export type ServeAgent = (request: FastifyRequest, reply: FastifyReply, checkout: Checkout | null) => Promise<unknown>;

const pendingText =
  'A payment is on its way and not confirmed yet. Repeat this call in a few seconds. Do not sign another payment.';
const notPayableText =
  'The request cannot be paid with a signed authorization right now. Pay it with an ordinary transfer, as its page shows, or try again later.';

const signText = 'Sign one of the payments in accepts, then repeat this call with it in the PAYMENT-SIGNATURE header.';
const sendAgainText =
  'An earlier signed payment failed, but its signature is still valid. Whoever signed it should send the same header again instead of signing another payment.';

/** Why payment is required: nothing was paid yet (`refused` null), or a payment was refused. */
type WhyUnpaid = { refused: RefusalCode | null; settlement?: Settlement };

/**
 * Makes the handler that answers programs. Limits each client before the request, so that a client who knows a pay link
 * uses up its own attempts and hardly affects others.
 */
export function serveAgents(app: FastifyInstance, ctx: Context): ServeAgent {
  const limits = postLimits({ perClient: 60, perClientAndRequest: 10, perRequest: 100 }, minuteMs);
  const ending = new AbortController();
  app.addHook('preClose', async () => ending.abort());
  const payer: Payer = { ctx, ending: ending.signal, waiting: 0 };

  return async (request, reply, checkout) => {
    if (!checkout) return sendFault(reply, 404, 'not_found', 'There is no request at this address.');
    const header = request.method === 'GET' ? paymentHeaderOf(request) : null;
    if (!header) return answerState(reply, checkout, { refused: null });
    if (header.version === 1) return answerState(reply, checkout, { refused: 'invalid_x402_version' });
    const now = ctx.clock.now();
    if (!limits.ofClient(request.ip, now) || !limits.ofRequest(request.ip, checkout.row.id, now)) {
      return sendFault(
        reply,
        429,
        'rate_limited',
        'Too many payments were sent for this request or by this client. Wait a minute.',
      );
    }
    const read = readPaymentHeader(header.text);
    if (read.kind === 'fault') {
      const { code, what } = read;
      return code === 'invalid_payload'
        ? sendFault(reply, 400, code, what)
        : answerState(reply, checkout, { refused: code });
    }
    return answerPaid(reply, await payByHeader({ payer, checkout, payment: read.payment, response: reply.raw }));
  };
}

/** Sends the result of a payment header. */
function answerPaid(reply: FastifyReply, paid: Paid): unknown {
  switch (paid.kind) {
    case 'mined':
      return sendRequest(reply, 200, paid.checkout, madeText(paid.checkout), paid.settlement);
    case 'pending':
      return sendRequest(reply, 202, paid.checkout, pendingText, paid.settlement);
    case 'refused':
      return answerState(reply, paid.checkout, { refused: paid.code, settlement: paid.settlement });
    case 'not_now':
      return sendFault(reply, 503, 'not_payable_now', notPayableText, paid.checkout);
  }
}

function madeText({ state }: Checkout): string {
  return state.kind === 'voided' || state.kind === 'too_late'
    ? 'The payment was made after the request had ended. The merchant has the money and can refund it.'
    : 'The payment was made.';
}

/** Sends the state of the request: paid, being paid, ended, or payable. */
function answerState(reply: FastifyReply, checkout: Checkout, asked: WhyUnpaid): unknown {
  const { state } = checkout;
  const { refused, settlement = null } = asked;
  const sendState = (status: number, message: string) =>
    sendRequest(reply, status, checkout, refused === 'other_payment' ? refusalTexts[refused] : message, settlement);
  switch (state.kind) {
    case 'paid':
      return sendState(200, 'The request is paid.');
    case 'confirming':
      return sendState(200, 'The request is paid, and its payment is being confirmed.');
    case 'voided':
      return sendFault(reply, 410, 'voided', 'The request was cancelled and can no longer be paid.', checkout);
    case 'expired':
    case 'too_late':
      return sendFault(reply, 410, 'expired', 'The request has ended and can no longer be paid.', checkout);
  }
  if (payable(state) === 'no' || state.kind === 'sending') return sendState(202, pendingText);
  const offers = agentOffers(checkout);
  if (offers.length === 0) return sendFault(reply, 503, 'not_payable_now', notPayableText, checkout);
  return sendPaymentRequired(
    reply,
    checkout,
    offers.map(({ requirements }) => requirements),
    {
      error: refused ?? 'PAYMENT-SIGNATURE header is required',
      message: refused ? refusalTexts[refused] : state.kind === 'unsent' && state.holds ? sendAgainText : signText,
      settlement,
    },
  );
}
