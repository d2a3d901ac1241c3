import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { isForAgent } from '../checkout/agents/agent.ts';
import type { Context } from '../context.ts';
import { asRefusal } from '../db/conflict.ts';
import { AccessChanged, errors, Refusal, refuse } from '../errors.ts';
import { errorPage, sendAccessChanged } from '../web/error-page.ts';
import { errorHeaders } from './api-headers.ts';

/** Turns any error into a response: JSON for programs, a page for people. */
export function answerError(ctx: Context, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const hasLeft = isOfClient(error, request);
  if (hasLeft) ctx.log.debug({ err: error }, 'a client left before its call had arrived');
  const refusal = hasLeft ? refuse('malformed_http') : toRefusal(error);
  const [status] = errors[refusal.code];
  const { message } = refusal;
  if (status >= 500) {
    // The route instead of the URL, which can contain a link's secret token.
    ctx.log.error({ err: error, route: request.routeOptions.url ?? null }, refusal.code);
  }
  reply.code(status);
  reply.headers(errorHeaders[refusal.code] ?? {});
  // Pages need no key: a program that sends one has mistaken the address. A proxy's `Basic` says nothing.
  const hasKey = /^Bearer /i.test(request.headers.authorization ?? '');
  const isForProgram = request.url.startsWith('/api/') || hasKey || isForAgent(ctx.config, request);
  if (!isForProgram && refusal instanceof AccessChanged) return sendAccessChanged(reply);
  if (!isForProgram) return errorPage(reply, status, message);
  return reply
    .type('application/json; charset=utf-8')
    .send(JSON.stringify({ ok: false, error: refusal.code, message, ...refusal.extra }));
}

/**
 * Whether the client's connection ended before its call had arrived. Its code, ECONNRESET, is also that of a lost
 * database, which alarms the operator; anybody can cause this one.
 */
function isOfClient(error: unknown, { raw }: FastifyRequest): boolean {
  return error instanceof Error && error === raw.errored;
}

function toRefusal(error: unknown): Refusal {
  const known = asRefusal(error);
  if (known instanceof Refusal) return known;
  const status = (error as FastifyError).statusCode ?? 500;
  if (status === 413) return refuse('body_too_large');
  if (status === 415) return refuse('unsupported_media_type');
  // Fastify itself refuses only URLs and forms that cannot be decoded.
  return refuse(status >= 400 && status < 500 ? 'not_found' : 'internal_error');
}
