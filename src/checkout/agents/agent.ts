import type { FastifyRequest } from 'fastify';
import type { Config } from '../../config.ts';
import { prefersJson } from '../../lib/text/accept.ts';
import { isPayPagePath } from '../paths.ts';

/** The payment header of a call, of x402 version 2 or 1; null if there is none. */
export function paymentHeaderOf({ headers }: Pick<FastifyRequest, 'headers'>): { text: string; version: 1 | 2 } | null {
  const [second, first] = [headers['payment-signature'], headers['x-payment']];
  if (second !== undefined) return { text: String(second), version: 2 };
  return first === undefined ? null : { text: String(first), version: 1 };
}

/** Whether the call for a pay page comes from a paying program: it prefers JSON, or sends a payment. */
export function isAgent(request: Pick<FastifyRequest, 'headers'>): boolean {
  return prefersJson(request.headers.accept) || paymentHeaderOf(request) !== null;
}

/**
 * Whether a call is a program's call for a pay page, so that its errors are JSON too. Its method may be one that the
 * page does not have: a program that pays by POST must be able to read why it cannot.
 */
export function isForAgent(config: Pick<Config, 'payUrl'>, request: FastifyRequest): boolean {
  return isPayPagePath(config, request.url.split('?', 1)[0] ?? '') && isAgent(request);
}
