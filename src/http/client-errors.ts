import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type ErrorCode, errors } from '../errors.ts';
import { fixedHeaders } from './api-headers.ts';

/** How long a call has to arrive, with its headers and its body. */
export const arrivalMs = 30_000;

/**
 * For the headers, Node applies the smaller of its two limits, and for the whole call the larger. The limit for headers
 * is 60 s by default. Node checks for calls that exceed a limit only from time to time.
 */
export const nodeLimits = { headersTimeout: arrivalMs, connectionsCheckingInterval: 5_000 };

/** Our error codes for the errors of Node's HTTP server; all others are `malformed_http`. */
const known: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
};

/**
 * Answers malformed HTTP, for which Fastify never sees a request, in the usual error format, and closes the connection.
 * Anybody can cause this at will, so it is logged at debug level only.
 */
export function answerClientErrors(log: Logger) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    const id = randomUUID();
    log.debug({ err: error, x_request_id: id }, 'a client sent an unreadable request');
    // If a response has already begun, as when a body turns out to be malformed, no other one can follow.
    const begun = (socket as { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent === true;
    if (begun || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(rawAnswer(known[error.code ?? ''] ?? 'malformed_http', id), () => socket.destroy());
  };
}

function rawAnswer(code: ErrorCode, id: string): string {
  const [status, message] = errors[code];
  const body = JSON.stringify({ ok: false, error: code, message });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
    ...fixedHeaders,
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`;
}

/** An `Expect` other than `100-continue` is ignored, as the standard allows; Node alone would answer 417. */
export function ignoreExpectations(app: FastifyInstance): void {
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
}
