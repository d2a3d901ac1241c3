import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseStrictJson } from '../lib/text/strict-json.ts';

/** The largest body that is read. */
export const maxBodyBytes = 128 * 1024;

/** The part of a body that was read. It is not parsed before the key has been checked. */
export type UnreadBody = { bytes: Buffer; contentType: string | undefined } | 'body_too_large';

/** The result of parsing a body. A fault is reported only after the key was checked and the call counted. */
export type ApiBody =
  | { fault: 'body_too_large' | 'unsupported_media_type' | 'invalid_json' }
  | { fault: null; value: Record<string, unknown>; keyOrder: Map<string, string[]> };

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/**
 * Receives the bodies of an API plugin. It parses nothing and never fails by itself, so the endpoint decides the order
 * of checks.
 */
export function readApiBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  // Fastify would refuse a malformed Content-Type before any hook of ours could check the key.
  app.addHook('onRequest', async (request) => {
    request.contentType = request.headers['content-type'];
    if (request.contentType !== undefined) request.raw.headers['content-type'] = 'application/octet-stream';
  });
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: NodeJS.ReadableStream) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of payload as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) return 'body_too_large' satisfies UnreadBody;
      chunks.push(chunk);
    }
    return { bytes: Buffer.concat(chunks), contentType: request.contentType } satisfies UnreadBody;
  });
}

/** Parses a body. Takes up to 25 ms of the event loop for 128 KiB, so only callers with a key get this far. */
export function judgeBody(unread: UnreadBody | undefined): ApiBody {
  if (unread === 'body_too_large') return { fault: unread };
  if (unread === undefined) return { fault: 'invalid_json' };
  const { bytes, contentType } = unread;
  if (bytes.length > 0 && !jsonType.test(contentType ?? '')) return { fault: 'unsupported_media_type' };
  const parsed = parseStrictJson(bytes);
  if (!parsed) return { fault: 'invalid_json' };
  // An optional field given as null counts as absent.
  for (const [name, value] of Object.entries(parsed.value)) if (value === null) delete parsed.value[name];
  return { fault: null, ...parsed };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The Content-Type as the client sent it. */
    contentType: string | undefined;
  }
}
